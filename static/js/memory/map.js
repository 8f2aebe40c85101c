// The map of names: read from the server, narrowed by kind and words, one name chosen at a time.
import { call } from "../api.js";
import { all, on, one, settled } from "../dom.js";
import { text } from "../page.js";
import { Sheet } from "./sheet.js";

const root = one("[data-map]");
const chosenBox = one("[data-chosen]", root);
const names = one("[data-map-names]", root);

let graph = { nodes: [], edges: [] };
let chosen = null;
let sheet;

/** Draws the map; `onShow(entity)` is told whose memories are wanted. Gives `refresh()`. */
export function startMap({ onShow, onTrouble }) {
  sheet = new Sheet(one("canvas", root), { onChoose: choose, colours: swatches });
  on(root, "click", "[data-zoom]", (button) => sheet[button.dataset.zoom]());
  on(root, "click", "[data-kind]", (button) => {
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
    narrow();
  });
  on(root, "click", "[data-map-names] button", (button) => sheet.choose(Number(button.dataset.node)));
  on(root, "click", "[data-unchoose]", () => sheet.choose(null));
  on(root, "click", "[data-chosen-show]", () => onShow(chosen.id));
  on(root, "click", ".bonds [data-relation]", (button) => end(button).catch(onTrouble));
  on(root, "click", ".bonds [data-node]", (button) => sheet.choose(Number(button.dataset.node)));
  on(root, "click", "[data-map-again]", refresh);
  one("[data-map-search]", root).addEventListener("input", settled(refresh, 250));
  root.addEventListener("keydown", (event) => event.key === "Escape" && sheet.choose(null));
  refresh();
  return { refresh: settled(refresh, 300) };
}

const swatches = () =>
  Object.fromEntries(
    all("[data-kind]", root).map((button) => [button.dataset.kind, getComputedStyle(one("i", button)).backgroundColor]),
  );

function state(name) {
  for (const line of all("[data-map-state]", root)) line.hidden = line.dataset.mapState !== name;
}

async function refresh() {
  const words = one("[data-map-search]", root).value.trim();
  try {
    graph = await call("GET", `/api/memory/graph${words ? `?${new URLSearchParams({ q: words })}` : ""}`);
  } catch {
    one("[data-map-state=failed] span", root).textContent = text("mapAway");
    return state("failed");
  }
  const kinds = new Set(graph.nodes.map((node) => node.type));
  for (const button of all("[data-kind]", root)) button.hidden = !kinds.has(button.dataset.kind);
  state(graph.nodes.length ? "" : "empty");
  narrow();
}

/** Shows the kinds that are switched on. */
function narrow() {
  const off = new Set(all("[data-kind][aria-pressed=false]", root).map((button) => button.dataset.kind));
  const nodes = graph.nodes.filter((node) => !off.has(node.type));
  const shown = new Set(nodes.map((node) => node.id));
  const edges = graph.edges.filter((edge) => shown.has(edge.source) && shown.has(edge.target));
  sheet.show(nodes, edges);
  one("canvas", root).setAttribute("aria-label", text("mapLabel", { nodes: nodes.length, edges: edges.length }));
  names.replaceChildren(...nodes.map((node) => item(`${node.name} · ${node.weight}`, node.id)));
  root.dataset.ready = nodes.length;
  choose(chosen && shown.has(chosen.id) ? chosen.id : null);
}

function item(words, id) {
  const line = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.dataset.node = id;
  line.append(button);
  return line;
}

/** Tells about the name that is chosen. */
function choose(id) {
  chosen = graph.nodes.find((node) => node.id === id) ?? null;
  chosenBox.hidden = !chosen;
  if (!chosen) return;
  one("h2", chosenBox).textContent = chosen.name;
  one("[data-chosen-kind]", chosenBox).textContent = one(`[data-kind="${chosen.type}"]`, root)?.textContent.trim() ?? "";
  const n = chosen.weight;
  one("[data-chosen-count]", chosenBox).textContent = text(n === 1 ? "memoriesOne" : "memories", { n });
  const mine = graph.edges.filter((edge) => edge.source === id || edge.target === id);
  one(".bonds", chosenBox).replaceChildren(...mine.slice(0, 30).map(bond));
}

function bond(edge) {
  const nameOf = (id) => graph.nodes.find((node) => node.id === id)?.name ?? "";
  const other = edge.source === chosen.id ? edge.target : edge.source;
  const line = item(`${nameOf(edge.source)} → ${edge.relation} → ${nameOf(edge.target)}`, other);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.dataset.relation = edge.id;
  button.textContent = text(edge.invalid_at ? "stillSo" : "noLonger");
  if (edge.invalid_at) {
    line.classList.add("is-over");
    const until = document.createElement("small");
    until.textContent = text("ended", { day: edge.invalid_at.slice(0, 10) });
    line.append(until);
  }
  line.append(button);
  return line;
}

/** Says that a relation no longer holds, or that it does after all. */
async function end(button) {
  const edge = graph.edges.find((one) => one.id === Number(button.dataset.relation));
  const invalid_at = edge.invalid_at ? null : new Date(Math.max(Date.now(), Date.parse(edge.valid_from))).toISOString();
  Object.assign(edge, await call("PATCH", `/api/memory/relations/${edge.id}`, { invalid_at }));
  narrow();
  one(`[data-relation="${edge.id}"]`, chosenBox)?.focus();
}
