// Finds flows while one types: every word must be in a flow's name, description or starters.
import { all, one } from "./dom.js";
import { startSessions } from "./sessions.js";

const search = one("#flow-search");

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

search?.addEventListener("input", narrow);
startSessions(() => location.reload());
