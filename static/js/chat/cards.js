// Cards that wait for a click: a task to be given is checked, changed, created or left alone.
import { call } from "../api.js";
import { all, copyOf, on, one } from "../dom.js";
import { page, text } from "../page.js";
import { instantOf, wallTime } from "../zone.js";

export class Cards {
  #root;
  #answered; // called when the server has an answer, whose turn is to be shown

  constructor(root, answered) {
    this.#root = root;
    this.#answered = answered;
    on(root, "submit", "[data-card]", (card, event) => {
      event.preventDefault();
      this.#answer(card, true);
    });
    on(root, "click", "[data-decline]", (button) => this.#answer(button.closest("[data-card]"), false));
    this.dress(root);
  }

  /** Shows the cards of the turns within `root` that came from the server. */
  dress(root) {
    for (const turn of all(".turn[data-action]", root)) this.show(turn, JSON.parse(turn.dataset.action));
  }

  /** Shows the card of a turn as `action` says it stands. What is typed into an open one stays. */
  show(turn, action) {
    const place = one("[data-cards]", turn);
    const known = one("[data-card]", place);
    if (known && known.dataset.id === action.action_id && action.status === "pending") return;
    const card = known ?? copyOf("card-template");
    card.dataset.id = action.action_id;
    fill(card, action);
    settle(card, action);
    if (!known) place.append(card);
    if (action.replaces) {
      const old = one(`[data-card][data-id="${CSS.escape(action.replaces)}"]`, this.#root);
      if (old) settle(old, { status: "expired" });
    }
  }

  /** Asks the server about each open card: it may have been answered elsewhere, or by what was typed. */
  async refresh() {
    for (const card of all("[data-card]:is([data-state=pending], [data-state=sent])", this.#root)) {
      const turn = card.closest(".turn");
      const { action } = await call("GET", `/api/turns/${turn.dataset.turn}`).catch(() => ({}));
      if (action) this.show(turn, action);
    }
  }

  async #answer(card, accept) {
    if (card.dataset.state !== "pending") return;
    const body = accept ? { accept, fields: fieldsOf(card) } : { accept };
    tell(card, []);
    settle(card, { status: accept ? "accepted" : "declined" });
    one("[data-card-state]", card).focus();
    try {
      await call("POST", `/api/actions/${card.dataset.id}`, body);
    } catch (error) {
      const expired = error.code === "action_expired";
      settle(card, { status: expired ? "expired" : "pending" });
      tell(card, error.mistakes?.length ? error.mistakes : [{ detail: text("failed") }]);
      return;
    }
    this.#answered();
  }
}

/** Puts what the card proposes, and what was changed when it was accepted, into the fields. */
function fill(card, { kind, card: proposed, fields = {} }) {
  const isTask = kind === "assign_work";
  one("[data-card-fields]", card).hidden = !isTask;
  if (!isTask) {
    one("[data-card-title]", card).textContent = proposed.title ?? text("card.confirm");
    one("[data-accept]", card).textContent = text("card.confirm");
    return;
  }
  const { title, description, assignee, due_at: due } = { ...proposed, assignee: proposed.assignee?.user_id, ...fields };
  const { elements } = card;
  elements.title.value = title;
  elements.description.value = description;
  elements.due_at.value = due ? wallTime(due, page.zone) : "";
  const people = proposed.candidates.map(
    ({ user_id: id, display_name: name, department, position }) =>
      new Option([name, department, position].filter(Boolean).join(" · "), id),
  );
  elements.assignee.replaceChildren(...(assignee ? [] : [new Option(text("card.choose"), "")]), ...people);
  elements.assignee.value = assignee ?? "";
  elements.assignee.disabled = elements.assignee.options.length === 1; // nobody else to choose
}

function fieldsOf(card) {
  if (one("[data-card-fields]", card).hidden) return {};
  const { title, description, due_at: due, assignee } = card.elements;
  const given = { title: title.value, description: description.value, due_at: instantOf(due.value, page.zone) };
  return assignee.value ? { ...given, assignee: Number(assignee.value) } : given;
}

/** Opens the card for a click, or locks it and says what became of it. */
function settle(card, { status, task_id: task = null }) {
  const state = { accepted: task ? "created" : "sent" }[status] ?? status;
  const isOpen = state === "pending";
  card.dataset.state = state;
  one("[data-card-fields]", card).disabled = !isOpen;
  for (const label of all("label", card)) label.hidden = !isOpen && !label.control.value;
  for (const button of all("button", card)) button.hidden = !isOpen;
  if (!one("[data-card-fields]", card).hidden) {
    one("[data-card-title]", card).textContent = text(isOpen ? "card.open" : "card.over");
  }
  const line = one("[data-card-state]", card);
  line.hidden = isOpen;
  line.textContent = isOpen ? "" : text(`card.states.${state}`);
}

/** Says what was wrong: each mistake at its field, in the order they came. */
function tell(card, mistakes) {
  const line = one("[data-card-trouble]", card);
  line.textContent = mistakes.map(({ detail }) => detail).join(" ");
  line.hidden = !mistakes.length;
  for (const field of card.elements) field.removeAttribute("aria-invalid");
  const wrong = mistakes.map(({ attr }) => card.elements[attr?.replace("fields.", "")]).filter(Boolean);
  for (const field of wrong) field.setAttribute("aria-invalid", "true");
  wrong[0]?.focus();
}
