// What every page has: the theme switch, menus that close, the sidebar as a drawer on narrow screens.
import { all, on, one } from "./dom.js";
import { startShortcuts } from "./shortcuts.js";

const THEMES = ["system", "light", "dark"];

function store(key, value) {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function showTheme(button) {
  const theme = document.documentElement.dataset.theme || "system";
  for (const face of all("[data-for]", button)) face.hidden = face.dataset.for !== theme;
  button.title = button.dataset[theme];
  button.setAttribute("aria-label", button.dataset[theme]);
}

function switchTheme(button) {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  store("tacit:theme", next === "system" ? null : next);
  showTheme(button);
}

function closeMenus(except) {
  for (const menu of all(".menu[open]")) if (menu !== except) menu.open = false;
}

/** Opens or closes the sidebar where it is a drawer. */
function setDrawer(open) {
  document.body.classList.toggle("drawer-open", open);
  one(".veil").hidden = !open;
  one("#main").inert = open;
  for (const button of all("[data-drawer-open]")) button.setAttribute("aria-expanded", open);
  const target = open ? one(".side a, .side button") : one("[data-drawer-open]");
  target?.focus();
}

for (const button of all("[data-theme-switch]")) showTheme(button);
on(document, "click", "[data-theme-switch]", switchTheme);
on(document, "click", "[data-drawer-open]", () => setDrawer(true));
on(document, "click", "[data-drawer-close]", () => setDrawer(false));

document.addEventListener("click", (event) => closeMenus(event.target.closest(".menu > summary")?.parentElement));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = one(".menu[open]");
  if (menu) {
    menu.open = false;
    one("summary", menu).focus();
  } else if (document.body.classList.contains("drawer-open")) setDrawer(false);
});
document.addEventListener(
  "toggle",
  (event) => event.target.matches(".menu[open]") && one(".menu-items", event.target).scrollIntoView({ block: "nearest" }),
  true,
);
// A drawer that was open must not keep the page inert once the screen is wide.
matchMedia("(max-width: 760px)").addEventListener("change", (narrow) => {
  if (!narrow.matches && document.body.classList.contains("drawer-open")) setDrawer(false);
});
startShortcuts({ openDrawer: () => matchMedia("(max-width: 760px)").matches && setDrawer(true) });
