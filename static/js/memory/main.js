// The memory page: its parts, and what they tell each other.
import { all, on, one } from "../dom.js";
import { startNotices } from "../notices.js";
import { text } from "../page.js";
import { refreshSoon, startSessions } from "../sessions.js";
import { startList } from "./list.js";
import { startMap } from "./map.js";
import { startSwitches } from "./switches.js";

const trouble = one("[data-trouble]");
const said = one("[data-said]");

/** Says what went wrong, in a calm line. */
function onTrouble(error) {
  trouble.textContent = error?.message && error.status ? error.message : text("failed");
  trouble.hidden = false;
}

/** Says what happened, to whoever does not see it. */
function say(words) {
  trouble.hidden = true;
  said.textContent = words;
}

function show(view) {
  for (const tab of all("[role=tab]")) {
    const chosen = tab.getAttribute("aria-controls") === view;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    one(`#${tab.getAttribute("aria-controls")}`).classList.toggle("is-chosen", chosen);
  }
}

on(document, "click", "[role=tab]", (tab) => show(tab.getAttribute("aria-controls")));
on(document, "keydown", "[role=tab]", (tab, event) => {
  if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  const other = all("[role=tab]").find((one) => one !== tab);
  other.focus();
  show(other.getAttribute("aria-controls"));
});

const map = startMap({
  onShow: (entity) => {
    show("list-view");
    list.about(entity);
  },
  onTrouble,
});
const list = startList({ say, onTrouble, onChange: () => map.refresh() });
startSwitches({ say, onTrouble });
show("list-view");
startSessions(onTrouble);
startNotices(() => refreshSoon());
