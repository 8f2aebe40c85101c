// Keys that work anywhere on a page, and the list of them.
import { on, one } from "./dom.js";

/** Wires the keys; `openDrawer()` shows the sidebar where it is hidden. */
export function startShortcuts({ openDrawer }) {
  const keys = {
    k: () => {
      openDrawer();
      one("[data-session-search]")?.focus();
    },
    "shift+o": () => one(".new")?.click(),
    "/": showKeys,
  };
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || one("dialog[open]")) return;
    const act = keys[`${event.shiftKey ? "shift+" : ""}${event.key.toLowerCase()}`];
    if (!act) return;
    event.preventDefault();
    act();
  });
  on(document, "click", "[data-keys]", (button) => {
    button.closest(".menu").open = false;
    showKeys();
  });
}

function showKeys() {
  one("#keys-dialog")?.showModal();
}
