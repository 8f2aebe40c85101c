// Makes what the skin built for the mouse alone reachable by keyboard, and silent symbols silent to screen readers.
const CLICKABLE = "[x-on\\:click]:not(button, a[href], input)";

function reachable(part) {
  part.tabIndex = 0;
  part.setAttribute("role", "button");
  if (part.matches(".material-symbols-outlined")) part.setAttribute("aria-label", label());
}

function label() {
  return document.querySelector("meta[name=menu-label]").content;
}

addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(CLICKABLE).forEach(reachable);
  document.querySelectorAll(".material-symbols-outlined:not([role])").forEach((symbol) => {
    symbol.setAttribute("aria-hidden", "true");
  });
});

addEventListener("keydown", (event) => {
  if (!["Enter", " "].includes(event.key) || !event.target.matches?.(CLICKABLE)) return;
  event.preventDefault();
  event.target.click();
});
