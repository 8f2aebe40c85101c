// A report in the admin: how far it is, the questions before what cannot be undone, and the printer.
import { on, one } from "./dom.js";

const EVERY = 2000;
const LONGEST = 15000;

/** Asks how far the report is until it is made or has failed, ever more slowly, then shows it. */
async function watch(waiting, pause) {
  await new Promise((over) => setTimeout(over, pause));
  try {
    const answer = await fetch(waiting.dataset.progress, { headers: { Accept: "application/json" }, redirect: "error" });
    if (!answer.ok) return location.reload();
    const { status, progress, words } = await answer.json();
    if (status === "ready" || status === "failed") return location.reload();
    one("progress", waiting).value = progress;
    const said = one("[data-words]", waiting);
    if (said.textContent !== words) said.textContent = words;
  } catch {
    // The network is away for a moment; the next question may be answered.
  }
  return watch(waiting, Math.min(pause * 1.2, LONGEST));
}

const waiting = document.querySelector("[data-progress]");
if (waiting) watch(waiting, EVERY);

on(document, "click", "[data-opens]", (button) => one(`#${button.dataset.opens}`).showModal());
on(document, "click", "[data-closes]", (button) => button.closest("dialog").close());
on(document, "click", "[data-prints]", () => print());
