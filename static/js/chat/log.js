// The messages: kept at the newest while one reads there, older ones fetched as one scrolls up.
import { fragment } from "../api.js";
import { all, nodesOf, on, one } from "../dom.js";
import { address, page } from "../page.js";
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
  #atOldest; // watches whether one has scrolled up to the oldest message shown
  #options = { onChange: () => this.#follow() };
  onTurns = () => {}; // called with turns that the server rendered, before they are shown

  constructor() {
    dressCode(this.#turns);
    startCode(this.#turns);
    this.#log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#follow()).observe(this.#log);
    this.#toEnd.addEventListener("click", () => this.toEnd());
    on(this.#older, "click", "[data-older]", () => this.#fetchOlder());
    const near = { root: this.#log, rootMargin: "300px 0px 0px" };
    this.#atOldest = new IntersectionObserver((seen) => seen.at(-1).isIntersecting && this.#fetchOlder(), near);
    this.#atOldest.observe(this.#older);
    if (!this.#seek(page.sought)) this.toEnd();
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

  /** Takes everything away: the empty state of a conversation that has not begun. */
  clear() {
    if (this.#turns.contains(document.activeElement)) this.#log.focus();
    this.#turns.replaceChildren();
    this.#older.hidden = true;
    this.#welcome.hidden = false;
    this.toEnd();
  }

  /** Stays at the newest message, if one reads there, after something made a message longer. */
  grown() {
    this.#follow();
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
    this.onTurns(turns);
    if (turns.childElementCount) this.#welcome.hidden = true;
    this.#turns.append(turns);
    this.#follow();
  }

  /** Goes to a turn that somebody came for. */
  #seek(turnId) {
    const view = turnId && this.view(turnId);
    if (!view) return false;
    view.element.classList.add("is-sought");
    view.element.scrollIntoView({ block: "start" });
    this.#scrolled();
    return true;
  }

  async #fetchOlder() {
    const first = this.#turns.firstElementChild?.dataset.seq;
    if (this.#fetching || this.#older.hidden || !first) return;
    this.#fetching = true;
    try {
      const { html, older } = await fragment(`${address()}?before=${first}`);
      const turns = nodesOf(html);
      dressCode(turns);
      this.onTurns(turns);
      // What has been laid out once is left alone while it is out of sight: a long conversation stays quick.
      for (const turn of all(".turn:not(.is-past, :last-child)", this.#turns)) turn.classList.add("is-past");
      const below = this.#log.scrollHeight - this.#log.scrollTop;
      // Old words are no news: they are not read out.
      this.#log.setAttribute("aria-live", "off");
      this.#older.hidden = !older;
      this.#turns.prepend(turns);
      this.#log.scrollTop = this.#log.scrollHeight - below;
      setTimeout(() => this.#log.setAttribute("aria-live", "polite"), 500);
      // Whoever is still up there gets the next ones: the observer alone speaks only of changes.
      this.#atOldest.unobserve(this.#older);
      this.#atOldest.observe(this.#older);
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
