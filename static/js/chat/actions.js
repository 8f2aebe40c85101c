// What one can do with a question and its answer: copy, answer again, edit, rate, see what it used.
import { call, fragment } from "../api.js";
import { copyOf, nodesOf, on, one } from "../dom.js";
import { text } from "../page.js";
import { copyText } from "./clipboard.js";

/** Wires the buttons of all turns of `log`, those to come included. */
export function startActions({ log, composer, conversation }) {
  const { root } = log;
  const tried = (work) => work.catch((error) => conversation.trouble(error));
  on(root, "click", "[data-copy]", (button) => copyAnswer(log.view(button), composer));
  on(root, "click", "[data-again], [data-retry]", (button) => conversation.answerAgain(log.view(button)));
  on(root, "click", "[data-edit]", (button) => editQuestion(log.view(button)));
  on(root, "click", "[data-rate]", (button) => tried(rate(button, log.view(button))));
  root.addEventListener("toggle", ({ target }) => fill(target, log), true);
  composer.addEventListener("edit-last", () => log.last && editQuestion(log.view(log.last)));

  function editQuestion(view) {
    // What answered a card is no question of its own.
    if (!conversation.isBusy && !view.element.dataset.answers) composer.edit(view.id, view.question);
  }

  async function rate(button, view) {
    const rating = button.dataset.rate;
    press(view, rating);
    one(".feedback", view.element)?.remove();
    await call("POST", `/api/turns/${view.id}/feedback`, { rating });
    if (rating === "down") askWhy(view);
  }

  function askWhy(view) {
    const form = copyOf("feedback-template");
    one(".answer", view.element).append(form);
    one("textarea", form).focus();
    form.scrollIntoView({ block: "nearest" });
    one("[data-cancel]", form).addEventListener("click", () => form.remove());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = { rating: "down", reason: form.elements.reason.value, share: form.elements.share.checked };
      form.remove();
      tried(call("POST", `/api/turns/${view.id}/feedback`, given).then(() => composer.say(text("thanks"))));
    });
  }
}

function press(view, rating) {
  for (const side of ["up", "down"]) {
    one(`[data-rate=${side}]`, view.element).setAttribute("aria-pressed", side === rating);
  }
}

async function copyAnswer(view, composer) {
  if (await copyText(view.answer.innerText)) composer.say(text("copied"));
  setTimeout(() => composer.say(""), 2000);
}

const FOLDS = [
  ["[data-used][open]", ".detail", ""],
  ["[data-recalled][open]", ".memories", "recalled/"],
];

/** Fetches what a fold of an answer holds, the first time it is opened. */
async function fill(details, log) {
  const [, content, path] = FOLDS.find(([open]) => details.matches(open)) ?? [];
  if (!content || one(content, details)) return;
  const { html } = await fragment(`/flows/turns/${log.view(details).id}/${path}`).catch(() => ({ html: "" }));
  details.append(nodesOf(html));
}
