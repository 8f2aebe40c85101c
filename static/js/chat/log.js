// The messages: kept at the newest while one reads there, older ones fetched as one scrolls up.
import { fragment } from "../api.js";
import { all, nodesOf, on, one } from "../dom.js";
import { address } from "../page.js";
import { dressCode, startCode } from "./code.js";
import { TurnView } from "./turn.js";

const NEAR = 80; // px from the end that still count as "at the end"

export class Log {
  #log = one("#log");
  #turns = one("[data-turns]");
  #toEnd = one("[data-to-end]");
  #older = one(".older");
  #welcome = one(".welcome");
  #pinned = true;
  #fetching = false;
  #options = { onChange: () => this.#follow() };

  constructor() {
    dressCode(this.#turns);
    startCode(this.#turns);
    this.#log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#follow()).observe(this.#log);
    this.#toEnd.addEventListener("click", () => this.toEnd());
    on(this.#older, "click", "[data-older]", () => this.#fetchOlder());
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.#fetchOlder(), {
      root: this.#log,
      rootMargin: "300px 0px 0px",
    }).observe(this.#older);
    this.toEnd();
  }

  get root() {
    return this.#turns;
  }

  get last() {
    return this.#turns.lastElementChild;
  }

  /** The view of the article that holds `element`, or of the turn with this id; null when it is not shown. */
  view(turn) {
    const element = turn instanceof Element ? turn.closest(".turn") : one(`.turn[data-turn="${CSS.escape(turn)}"]`);
    return element && new TurnView(element, this.#options);
  }

  /** Shows a question that was just sent, and goes to it. */
  add(question) {
    const view = TurnView.of(question, this.#options);
    this.#welcome.hidden = true;
    this.#turns.append(view.element);
    this.toEnd();
    return view;
  }

  remove(view) {
    view.element.remove();
    this.#welcome.hidden = this.#turns.childElementCount > 0;
  }

  toEnd() {
    this.#pinned = true;
    this.#follow();
  }

  /** Fetches the turns that another page or device added, and shows them if `stillWanted()` by then. */
  async fetchNewer(stillWanted) {
    const { html } = await fragment(`${address()}?after=${this.last?.dataset.seq || 0}`);
    const turns = nodesOf(html);
    if (!stillWanted()) return;
    for (const turn of all(".turn", turns)) {
      // Two of these may be under way at once; what is here already stays as it is.
      if (this.view(turn.dataset.turn)) turn.remove();
      else if (turn.dataset.replaces) this.view(turn.dataset.replaces)?.element.remove();
    }
    dressCode(turns);
    if (turns.childElementCount) this.#welcome.hidden = true;
    this.#turns.append(turns);
    this.#follow();
  }

  async #fetchOlder() {
    const first = this.#turns.firstElementChild?.dataset.seq;
    if (this.#fetching || this.#older.hidden || !first) return;
    this.#fetching = true;
    try {
      const { html, older } = await fragment(`${address()}?before=${first}`);
      const turns = nodesOf(html);
      dressCode(turns);
      const below = this.#log.scrollHeight - this.#log.scrollTop;
      // Old words are no news: they are not read out.
      this.#log.setAttribute("aria-live", "off");
      this.#older.hidden = !older;
      this.#turns.prepend(turns);
      this.#log.scrollTop = this.#log.scrollHeight - below;
      setTimeout(() => this.#log.setAttribute("aria-live", "polite"), 500);
    } catch {
      // The button stays, for another try.
    } finally {
      this.#fetching = false;
    }
  }

  #scrolled() {
    const left = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight;
    this.#pinned = left < NEAR;
    this.#toEnd.hidden = left < this.#log.clientHeight / 2;
  }

  #follow() {
    if (this.#pinned) this.#log.scrollTop = this.#log.scrollHeight;
    else this.#scrolled();
  }
}
