// The end of an answer that is still being written: plain text, until the server has rendered its block.

const PART = 3000; // characters; a longer text is laid out in parts, so that a long block stays cheap to grow

export class Tail {
  #element = document.createElement("div");

  /** Stands behind `output`, which holds the finished blocks. */
  constructor(output) {
    this.#element.className = "tail";
    this.#element.hidden = true;
    // Read out in whole blocks, not letter by letter.
    this.#element.setAttribute("aria-live", "off");
    output.after(this.#element);
  }

  get hasText() {
    return !this.#element.hidden;
  }

  set(text) {
    this.#element.replaceChildren();
    this.#element.hidden = true;
    this.add(text);
  }

  add(text) {
    if (!text) return;
    if (this.#element.hidden) this.#begin("");
    this.#element.hidden = false;
    const last = this.#element.lastChild.firstChild;
    last.appendData(text);
    const begins = this.#element.firstChild.firstChild.substringData(0, 8);
    this.#element.classList.toggle("is-code", /^ {0,3}(```|~~~)/.test(begins));
    const end = last.data.lastIndexOf("\n") + 1;
    if (last.length < PART || end === 0) return;
    const next = last.data.slice(end);
    last.deleteData(end, next.length);
    this.#begin(next);
  }

  remove() {
    this.#element.remove();
  }

  #begin(text) {
    const part = document.createElement("div");
    part.append(document.createTextNode(text));
    this.#element.append(part);
  }
}
