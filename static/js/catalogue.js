// The catalogue: finds flows while one types, and keeps favourites.
import { call } from "./api.js";
import { all, on, one } from "./dom.js";
import { startNotices } from "./notices.js";
import { refreshSoon, startSessions } from "./sessions.js";

const search = one("#flow-search");

/** Every word must be in a flow's name, description or starters. */
function narrow() {
  const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const shelf of all(".shelf")) {
    const shown = all(".flow", shelf).filter((flow) => {
      const text = flow.dataset.words.toLocaleLowerCase();
      flow.hidden = !words.every((word) => text.includes(word));
      return !flow.hidden;
    });
    shelf.hidden = shown.length === 0;
    found += shown.length;
  }
  for (const recent of all(".recent")) recent.hidden = words.length > 0;
  one("[data-nothing]").hidden = found > 0;
}

/** Marks a flow or takes the mark away; it changes shelves with the next visit, not under one's hand. */
async function mark(button) {
  const marked = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", marked);
  try {
    await call(marked ? "PUT" : "DELETE", `/api/flows/${button.dataset.favourite}/favourite`);
  } catch {
    button.setAttribute("aria-pressed", !marked);
  }
}

/** Takes an erased conversation out of those one was last in. */
function forget(session) {
  for (const link of all(`.recent a[href$="/${session}/"]`)) link.closest("li").remove();
  for (const recent of all(".recent")) if (!one("li", recent)) recent.remove();
}

search?.addEventListener("input", narrow);
on(document, "click", "[data-favourite]", mark);
startSessions(() => location.reload());
startNotices((session, erased) => {
  refreshSoon();
  if (erased) forget(session);
});
