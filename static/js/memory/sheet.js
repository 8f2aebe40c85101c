// A sheet that names and the lines between them are drawn on: it is moved, zoomed, and its names dragged.
import { labelled } from "./labels.js";
import { Hand } from "./hand.js";

const { forceSimulation, forceLink, forceManyBody, forceX, forceY, forceCollide } = globalThis.d3;
const FIRST_MS = 120; // how long the layout may think before it is seen
const MANY = 150; // names, from which they stand closer and smaller
const FEW = { dot: 4, push: -190, reach: 420, length: 60, growth: 6 };
const CROWD = { dot: 2.5, push: -45, reach: 220, length: 18, growth: 11 };
const NEAREST = 0.15;
const FARTHEST = 4;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Sheet {
  #nodes = [];
  #edges = [];
  #view = { x: 0, y: 0, k: 1 };
  #chosen = null;
  #moved = false; // by its reader: then it is no longer fitted by itself
  #due = 0;

  constructor(canvas, { onChoose, colours }) {
    this.canvas = canvas;
    this.onChoose = onChoose;
    this.colours = colours;
    this.simulation = forceSimulation()
      .force("x", forceX().strength(0.045))
      .force("y", forceY().strength(0.055))
      .force("collide", forceCollide((node) => node.r + 3))
      .on("tick", () => this.#ticked())
      .stop();
    new Hand(canvas, {
      at: (x, y) => this.#at(x, y),
      pan: (dx, dy) => this.#pan(dx, dy),
      zoom: (factor, x, y) => this.#zoom(factor, x, y),
      drag: (node, x, y) => this.#drag(node, x, y),
      drop: (node) => this.#drop(node),
      click: (node) => this.choose(node?.id ?? null),
    });
    new ResizeObserver(() => this.#resized()).observe(canvas.parentElement);
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows these; names that stood here before keep their places. */
  show(nodes, edges) {
    const before = new Map(this.#nodes.map((node) => [node.id, node]));
    const { dot, push, reach, length, growth } = nodes.length > MANY ? CROWD : FEW;
    this.#nodes = nodes.map((node) => {
      const { x, y } = before.get(node.id) ?? {};
      return { ...node, r: dot + 2.6 * Math.sqrt(node.weight), ...(x === undefined ? {} : { x, y }) };
    });
    this.#edges = edges.map((edge) => ({ ...edge }));
    const ends = new Map(); // how many lines end at each name: many need room around it
    for (const id of edges.flatMap((edge) => [edge.source, edge.target])) ends.set(id, (ends.get(id) ?? 0) + 1);
    const room = ({ source, target }) => length + growth * Math.sqrt(Math.max(ends.get(source.id), ends.get(target.id)));
    this.simulation
      .nodes(this.#nodes)
      .force("charge", forceManyBody().strength(push).distanceMax(reach))
      .force("link", forceLink(this.#edges).id((node) => node.id).distance(room))
      .alpha(1)
      .alphaDecay(0.035)
      .stop();
    this.#settle(calm.matches ? 6 * FIRST_MS : FIRST_MS);
    if (!this.#moved) this.fit();
    if (!calm.matches) this.simulation.restart();
    this.draw();
  }

  /** Marks a name, and dims what is not beside it; null marks none. */
  choose(id) {
    this.#chosen = this.#nodes.find((node) => node.id === id) ?? null;
    this.onChoose(this.#chosen?.id ?? null);
    const { x, y } = this.#chosen ?? {};
    if (this.#chosen && !this.#isSeen(x, y)) {
      const { width, height } = this.#size();
      this.#view.x = width / 2 - x * this.#view.k;
      this.#view.y = height / 2 - y * this.#view.k;
      this.#moved = true;
    }
    this.draw();
  }

  in() {
    this.#zoom(1.4);
  }

  out() {
    this.#zoom(1 / 1.4);
  }

  /** Brings all of it into view. */
  fit() {
    this.#moved = false;
    const { width, height } = this.#size();
    if (!this.#nodes.length || !width) return;
    const span = (axis) => {
      const places = this.#nodes.map((node) => node[axis]).sort((a, b) => a - b);
      return [places[0], places.at(-1)];
    };
    const [[left, right], [top, bottom]] = [span("x"), span("y")];
    const k = Math.min((width - 90) / (right - left + 1), (height - 70) / (bottom - top + 1), 1.6);
    this.#view = { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
    this.draw();
  }

  /** Draws with the next frame. */
  draw() {
    this.#due ||= requestAnimationFrame(() => {
      this.#due = 0;
      this.#paint();
    });
  }

  #settle(ms) {
    const until = performance.now() + ms;
    while (this.simulation.alpha() > this.simulation.alphaMin() && performance.now() < until) this.simulation.tick();
  }

  #ticked() {
    if (this.#moved) this.draw();
    else this.fit();
  }

  #size() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    return { width, height };
  }

  #resized() {
    const { width, height } = this.#size();
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    if (this.#moved) this.draw();
    else this.fit();
  }

  #place(x, y) {
    return [(x - this.#view.x) / this.#view.k, (y - this.#view.y) / this.#view.k];
  }

  #isSeen(x, y) {
    const { width, height } = this.#size();
    const [left, top] = [x * this.#view.k + this.#view.x, y * this.#view.k + this.#view.y];
    return left > 0 && top > 0 && left < width && top < height;
  }

  #at(x, y) {
    const [left, top] = this.#place(x, y);
    const found = this.simulation.find(left, top, 24 / this.#view.k + 8);
    return found && Math.hypot(found.x - left, found.y - top) < found.r + 10 / this.#view.k ? found : null;
  }

  #pan(dx, dy) {
    this.#moved = true;
    this.#view.x += dx;
    this.#view.y += dy;
    this.draw();
  }

  #zoom(factor, x = this.#size().width / 2, y = this.#size().height / 2) {
    const [left, top] = this.#place(x, y);
    this.#moved = true;
    this.#view.k = Math.min(Math.max(this.#view.k * factor, NEAREST), FARTHEST);
    this.#view.x = x - left * this.#view.k;
    this.#view.y = y - top * this.#view.k;
    this.draw();
  }

  #drag(node, x, y) {
    this.#moved = true;
    [node.fx, node.fy] = this.#place(x, y);
    [node.x, node.y] = [node.fx, node.fy];
    if (!calm.matches && this.simulation.alphaTarget() === 0) this.simulation.alphaTarget(0.2).restart();
    this.draw();
  }

  #drop(node) {
    node.fx = node.fy = null;
    this.simulation.alphaTarget(0);
  }

  #beside() {
    if (!this.#chosen) return null;
    const ends = this.#edges.filter(({ source, target }) => source === this.#chosen || target === this.#chosen);
    return new Set([this.#chosen, ...ends.flatMap(({ source, target }) => [source, target])]);
  }

  #paint() {
    const context = this.canvas.getContext("2d");
    const { width, height } = this.#size();
    const look = getComputedStyle(this.canvas);
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const placed = this.#nodes.map((node) => ({
      node,
      x: node.x * this.#view.k + this.#view.x,
      y: node.y * this.#view.k + this.#view.y,
      r: Math.max(node.r * Math.min(Math.sqrt(this.#view.k) * 1.1, 1.5), 2.5),
    }));
    const beside = this.#beside();
    const scene = { context, width, height, look, colours: this.colours(), placed, beside, chosen: this.#chosen };
    paintEdges(scene, this.#edges);
    paintNodes(scene);
    labelled(scene);
  }
}

function paintEdges({ context, look, placed, chosen }, edges) {
  const where = new Map(placed.map((place) => [place.node, place]));
  for (const { source, target, invalid_at } of edges) {
    const [from, to] = [where.get(source), where.get(target)];
    const mine = source === chosen || target === chosen;
    context.globalAlpha = mine ? 1 : chosen ? 0.12 : 0.45;
    context.strokeStyle = mine ? look.outlineColor : look.borderTopColor;
    context.lineWidth = mine ? 1.6 : 1;
    context.setLineDash(invalid_at ? [3, 4] : []);
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
  }
  context.setLineDash([]);
}

function paintNodes({ context, look, colours, placed, beside, chosen }) {
  for (const { node, x, y, r } of placed) {
    context.globalAlpha = beside && !beside.has(node) ? 0.25 : 1;
    context.fillStyle = colours[node.type] ?? look.color;
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fill();
    if (node !== chosen) continue;
    context.strokeStyle = look.color;
    context.lineWidth = 2;
    context.stroke();
  }
  context.globalAlpha = 1;
}
