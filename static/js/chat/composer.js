// Where one writes: Enter sends, words are kept until the server has them, the last question can be edited.
import { one } from "../dom.js";
import { page, text } from "../page.js";

const draftKey = () => `tacit:draft:${page.flow}:${page.session ?? "new"}`;

export class Composer extends EventTarget {
  #form = one("[data-composer]");
  #box = one("#input");
  #send = one("[data-send]");
  #stop = one("[data-stop]");
  #editing = one("[data-editing]");
  #state = one("[data-state]");
  #edit = null; // the turn that is being edited
  #busy = false;

  /** Events: `send` (with `words` and `editOf`), `stop`, `edit-last`. */
  constructor() {
    super();
    // A starter from the catalogue stands in the box already and goes before an old draft.
    if (!this.#box.value) this.#box.value = this.#stored() ?? "";
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#box.addEventListener("input", () => this.#changed());
    this.#stop.addEventListener("click", () => this.dispatchEvent(new Event("stop")));
    one("[data-edit-cancel]").addEventListener("click", () => this.endEdit());
    this.#changed();
    if (matchMedia("(hover: hover)").matches) this.focus();
  }

  focus() {
    this.#box.focus({ preventScroll: true });
  }

  get words() {
    return this.#box.value;
  }

  set words(words) {
    this.#box.value = words;
    this.#changed();
  }

  /** While an answer is written there is a stop button in place of the send button. */
  set busy(busy) {
    const focusWasHere = this.#stop === document.activeElement || this.#send === document.activeElement;
    this.#busy = busy;
    this.#stop.hidden = !busy;
    this.#send.hidden = busy;
    if (focusWasHere) this.focus();
    this.#changed();
  }

  /** One line over the box; empty when all is well. */
  say(line, { trouble = false } = {}) {
    this.#state.textContent = line;
    this.#state.classList.toggle("is-trouble", trouble);
  }

  /** Puts a question back into the box; sending it replaces its turn. */
  edit(turnId, words) {
    this.#edit = turnId;
    this.#editing.hidden = false;
    this.words = words;
    this.focus();
    this.#box.setSelectionRange(words.length, words.length);
  }

  endEdit() {
    this.#edit = null;
    this.#editing.hidden = true;
    this.words = "";
    this.focus();
  }

  /** The server has the words that were sent; `begin` may give the session its id, and so the draft a new name. */
  accepted(begin) {
    this.#store(draftKey(), "");
    begin();
    this.#store(draftKey(), this.words);
  }

  /** The conversation is gone: its question is no longer edited; words that were never sent stay in the box. */
  leave(begin) {
    if (this.#edit) this.endEdit();
    this.busy = false;
    this.accepted(begin);
  }

  /** Words that the server refused come back, before those that were written since. */
  giveBack(words, editOf) {
    const whole = [words, this.words].filter(Boolean).join("\n");
    if (editOf) this.edit(editOf, whole);
    else this.words = whole;
    this.focus();
  }

  #submit() {
    const words = this.words;
    if (!words.trim()) return;
    if (this.#busy) return this.say(text("wait"));
    const editOf = this.#edit;
    this.#edit = null;
    this.#editing.hidden = true;
    // The draft stays stored until the server has the words.
    this.#box.value = "";
    this.dispatchEvent(Object.assign(new Event("send"), { words, editOf }));
    this.#fit();
  }

  #key(event) {
    // 229: the keys that choose a candidate of an input method, also where isComposing is already over.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "Escape" && this.#edit) {
      event.stopPropagation();
      this.endEdit();
    } else if (event.key === "ArrowUp" && !this.words && !this.#busy) {
      this.dispatchEvent(new Event("edit-last"));
    }
  }

  #changed() {
    this.#send.disabled = !this.words.trim();
    this.#store(draftKey(), this.words);
    this.#fit();
  }

  #fit() {
    if (CSS.supports("field-sizing", "content")) return;
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight}px`;
  }

  #stored() {
    try {
      return sessionStorage.getItem(draftKey());
    } catch {
      return null;
    }
  }

  #store(key, words) {
    try {
      if (words) sessionStorage.setItem(key, words);
      else sessionStorage.removeItem(key);
    } catch {
      // Without storage a draft lasts as long as the page.
    }
  }
}
