// The list of memories: sifted, added to, edited, pinned, deleted and taken back.
import { call, fragment } from "../api.js";
import { all, copyOf, nodesOf, on, one, settled } from "../dom.js";
import { page, text } from "../page.js";

const list = one("[data-list]");
const sift = one("[data-sift]");
const IMPORTANT = 5;
const USUAL = 3;
let asking = 0;

const address = (memory) => `/api/memory/episodes/${memory.dataset.memory}`;
const memoryOf = (element) => element.closest("[data-memory]");

/** Wires the list; gives `about(entity)`, which narrows it to one name. */
export function startList({ say, onTrouble, onChange }) {
  const tell = { say, onTrouble, onChange };
  const act = (selector, work) =>
    on(list, "click", selector, (button) => work(memoryOf(button), button, tell).catch(onTrouble));
  act("[data-edit]", async (memory) => edit(memory));
  act("[data-cancel-edit]", async (memory) => leave(memory));
  act("[data-pin]", (memory, button) => change(memory, { pinned: !isPressed(button) }, tell));
  act("[data-important]", (memory, button) => change(memory, { importance: isPressed(button) ? USUAL : IMPORTANT }, tell));
  act("[data-status]", (memory, button) => move(memory, button.dataset.status, tell));
  act("[data-delete]", (memory) => remove(memory, tell));
  on(list, "submit", ".correct", (form, event) => {
    event.preventDefault();
    correct(form, tell).catch(onTrouble);
  });
  on(document, "submit", "[data-add]", (form, event) => {
    event.preventDefault();
    add(form, tell).catch(onTrouble);
  });
  on(list, "click", "[data-more]", (link, event) => {
    event.preventDefault();
    more(link).catch(onTrouble);
  });
  const narrow = (fields) => narrowTo(fields, tell).catch(onTrouble);
  on(list, "click", "[data-entity]", (button) => narrow({ entity: button.dataset.entity }));
  on(list, "click", "[data-show]", (link, event) => {
    event.preventDefault();
    narrow({ memory: link.dataset.show });
  });
  on(list, "click", "[data-all]", (link, event) => {
    event.preventDefault();
    narrow({});
  });
  const again = settled(() => refresh(query(), tell).catch(onTrouble), 200);
  sift.addEventListener("input", again);
  sift.addEventListener("submit", (event) => {
    event.preventDefault();
    again();
  });
  const sought = new URLSearchParams(location.search).get("memory");
  if (sought) open(one(`[data-memory="${sought}"]`, list));
  return { about: (entity) => narrow({ entity }) };
}

const isPressed = (button) => button.getAttribute("aria-pressed") === "true";

/** What the filters say, without what they leave open. */
function query(also = {}) {
  const said = { ...Object.fromEntries(new FormData(sift)), ...also };
  return new URLSearchParams(Object.entries(said).filter(([, value]) => value));
}

/** Leaves every filter but these. */
async function narrowTo(fields, tell) {
  for (const field of all("input, select", sift)) field.value = "";
  one("[name=entity]", sift).value = fields.entity ?? "";
  await refresh(query(fields), tell);
  if (fields.memory) open(one("[data-memory]", list));
  list.scrollIntoView({ block: "nearest" });
}

function open(memory) {
  if (!memory) return;
  const details = one("details", memory);
  details.open = true;
  one("summary", details).focus();
}

async function refresh(asked, { say }) {
  const mine = ++asking;
  list.setAttribute("aria-busy", true);
  try {
    const { html } = await fragment(`${list.dataset.list}?${asked}`);
    if (mine !== asking) return; // a slow answer must not overwrite a newer one
    list.replaceChildren(nodesOf(html));
    history.replaceState(null, "", `/memory/${asked.size ? `?${asked}` : ""}`);
    const n = Number(one(".memories", list).dataset.count);
    say(n ? text(n === 1 ? "foundOne" : "found", { n }) : text("foundNone"));
  } finally {
    if (mine === asking) list.removeAttribute("aria-busy");
  }
}

async function more(link) {
  const { html } = await fragment(`${list.dataset.list}?${link.dataset.more}`);
  const nodes = nodesOf(html);
  const first = one(".memory", nodes);
  one(".memories", list).append(...all(".memory", nodes));
  link.parentElement.replaceWith(one(".further", nodes) ?? "");
  one("summary", first)?.focus();
}

/** Shows a memory as the server has it now, as open as it was. */
async function renew(memory) {
  const { html } = await fragment(`/memory/${memory.dataset.memory}/`);
  const fresh = nodesOf(html).firstElementChild;
  one("details", fresh).open = one("details", memory)?.open ?? true;
  memory.replaceWith(fresh);
  return fresh;
}

async function change(memory, fields, { say }) {
  const at = Object.keys(fields)[0] === "pinned" ? "[data-pin]" : "[data-important]";
  await call("PATCH", address(memory), fields);
  one(at, await renew(memory)).focus();
  say(text("saved"));
}

async function move(memory, status, { say, onChange }) {
  await call("PATCH", address(memory), { status });
  const fresh = await renew(memory);
  one("summary", fresh).focus();
  say(text("saved"));
  onChange();
}

function edit(memory) {
  const { summary, title, keywords } = JSON.parse(one("script", memory).textContent);
  const form = copyOf("edit-template");
  form.elements.summary.value = summary;
  form.elements.title.value = title;
  form.elements.keywords.value = keywords.join(", ");
  one(".behind", memory).hidden = true;
  one(".behind", memory).after(form);
  form.elements.summary.focus();
}

function leave(memory) {
  one(".correct", memory).remove();
  one(".behind", memory).hidden = false;
  one("[data-edit]", memory).focus();
}

async function correct(form, { say, onChange }) {
  const memory = memoryOf(form);
  const { summary, title, keywords } = form.elements;
  const words = keywords.value.split(/[,，、]/).map((word) => word.trim()).filter(Boolean);
  const note = one(".note", form);
  try {
    await call("PATCH", address(memory), { summary: summary.value, title: title.value, keywords: words });
  } catch (error) {
    if (!error.message) throw error;
    note.textContent = error.message;
    note.hidden = false;
    return;
  }
  one("[data-edit]", await renew(memory)).focus();
  say(text("saved"));
  onChange();
}

async function add(form, { say, onChange }) {
  const field = form.elements.summary;
  const made = await call("POST", "/api/memory/episodes", { summary: field.value });
  field.value = "";
  const known = one(`[data-memory="${made.id}"]`, list);
  const { html } = await fragment(`/memory/${made.id}/`);
  if (known) known.replaceWith(nodesOf(html));
  else one(".memories", list).prepend(nodesOf(html));
  for (const nothing of all(".empty", list)) nothing.remove();
  say(text(known ? "known" : "added"));
  onChange();
}

/** Deletes at once; for some seconds a line in its place offers to take that back. */
async function remove(memory, { say, onTrouble, onChange }) {
  await call("DELETE", address(memory));
  const title = memory.dataset.title;
  const line = document.createElement("li");
  line.className = "memory is-deleted";
  const words = document.createElement("span");
  words.textContent = text("deleted", { title });
  const undo = document.createElement("button");
  undo.type = "button";
  undo.className = "quiet";
  undo.textContent = text("undo");
  line.append(words, undo);
  memory.replaceWith(line);
  undo.focus();
  say(words.textContent);
  onChange();
  const over = setTimeout(() => {
    const next = line.contains(document.activeElement) && (line.nextElementSibling ?? line.previousElementSibling);
    line.remove();
    if (next) one("summary, button", next)?.focus();
  }, page.undoSeconds * 1000);
  undo.addEventListener("click", async () => {
    clearTimeout(over);
    try {
      await call("POST", `${address(memory)}/take-back`);
      line.replaceWith(memory);
      one("summary", await renew(memory)).focus();
      say(text("restored"));
      onChange();
    } catch (error) {
      line.remove();
      onTrouble(error.status === 404 ? { status: 404, message: text("tooLate") } : error);
    }
  });
}
