// One question and its answer on the page, while it is being written and afterwards.
import { copyOf, nodesOf, one } from "../dom.js";
import { page, text } from "../page.js";
import { dressCode } from "./code.js";
import { Tail } from "./tail.js";

export class TurnView {
  #output;
  #tail = null;
  #html = ""; // of the blocks that are shown
  #waitingHtml = ""; // of blocks that arrived since the last frame
  #more = ""; // text that arrived since then
  #rest = null; // what the tail holds after those blocks, null when none came
  #frame = 0;

  constructor(element, { onChange = () => {} } = {}) {
    this.element = element;
    this.onChange = onChange;
    this.#output = one("[data-output]", element);
  }

  /** A new view of a question that is about to be sent. */
  static of(question, options) {
    const view = new TurnView(copyOf("turn-template"), options);
    one("[data-input]", view.element).textContent = question;
    return view;
  }

  get id() {
    return this.element.dataset.turn;
  }

  get question() {
    return one("[data-input]", this.element).textContent;
  }

  get answer() {
    return this.#output;
  }

  /** Empties the answer: its turn is followed from the first event on. */
  begin(turnId, seq) {
    this.element.dataset.turn = turnId;
    this.element.dataset.status = "running";
    if (seq !== undefined) this.element.dataset.seq = seq;
    this.#output.replaceChildren();
    one("[data-notes]", this.element).replaceChildren();
    one("[data-tools]", this.element).replaceChildren();
    one("[data-waiting]", this.element).classList.remove("over");
    this.#html = this.#waitingHtml = this.#more = "";
    this.#rest = null;
    this.#tail?.remove();
    this.#tail = new Tail(this.#output);
  }

  /** A piece of the answer arrived. */
  addText(piece) {
    this.#more += piece;
    this.#plan();
  }

  /** A block is finished; `rest` is the text behind it that is in no block yet. */
  addBlock(html, rest) {
    this.#waitingHtml += html;
    this.#rest = rest ?? "";
    this.#more = "";
    this.#plan();
  }

  /** Adds a calm line under the answer, once. */
  addNote(line) {
    const notes = one("[data-notes]", this.element);
    if ([...notes.children].some((note) => note.textContent === line)) return;
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = line;
    notes.append(note);
    this.onChange();
  }

  /** Says what was looked up for the answer, each kind of thing once. */
  showTool(name) {
    const tools = one("[data-tools]", this.element);
    if (!(name in page.text.tools) || one(`[data-tool="${name}"]`, tools)) return;
    const done = document.createElement("span");
    done.dataset.tool = name;
    done.textContent = text(`tools.${name}`);
    tools.append(done);
    this.onChange();
  }

  /** Says how many memories the answer uses; they are fetched when somebody asks. */
  showRecalled({ turns = [], episodes = [] }) {
    const count = turns.length + episodes.length;
    const recalled = one("[data-recalled]", this.element);
    recalled.hidden = !count;
    one("summary", recalled).textContent = text(count === 1 ? "recalled.one" : "recalled.many", { n: count });
  }

  showTokens(count) {
    const used = one("[data-used]", this.element);
    used.hidden = !count;
    one("summary", used).textContent = text("tokens", { n: count.toLocaleString("en") });
  }

  /** The answer has ended as `status`; `html` is the whole of it, where the server sent it. */
  end(status, html) {
    this.#show();
    this.#tail?.remove();
    this.#tail = null;
    if (html !== undefined && html !== this.#html) {
      this.#html = html;
      this.#output.replaceChildren(nodesOf(html));
      dressCode(this.#output);
    }
    this.element.dataset.status = status;
    this.element.classList.toggle("is-silent", !this.#html);
    this.onChange();
  }

  #plan() {
    // One change of the page for each frame that is painted, however fast the pieces come.
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  #show() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.#tail) return;
    if (this.#waitingHtml) {
      const blocks = nodesOf(this.#waitingHtml);
      dressCode(blocks);
      this.#output.append(blocks);
      this.#html += this.#waitingHtml;
      this.#waitingHtml = "";
    }
    if (this.#rest !== null) this.#tail.set(this.#rest + this.#more);
    else this.#tail.add(this.#more);
    this.#rest = null;
    this.#more = "";
    if (this.#html || this.#tail.hasText) one("[data-waiting]", this.element).classList.add("over");
    this.onChange();
  }
}
