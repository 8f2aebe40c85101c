// Makes what the skin built for the mouse alone reachable by keyboard, and tells screen readers its bare symbols.
const CLICKABLE = "[x-on\\:click]:not(button, a[href], input)";
const SYMBOL = ".material-symbols-outlined";

function name(part, names) {
  const symbol = part.matches(SYMBOL) ? part : part.querySelector(SYMBOL);
  const bare = symbol && symbol.textContent.trim() === part.textContent.trim();
  if (bare && !part.title && !part.ariaLabel) part.setAttribute("aria-label", names[symbol.textContent.trim()] ?? symbol.textContent.trim());
}

addEventListener("DOMContentLoaded", () => {
  const names = JSON.parse(document.querySelector("meta[name=symbol-names]").content);
  for (const part of document.querySelectorAll(CLICKABLE)) {
    part.tabIndex = 0;
    part.setAttribute("role", "button");
  }
  for (const part of document.querySelectorAll("a, button, [role=button]")) name(part, names);
  for (const symbol of document.querySelectorAll(`${SYMBOL}:not([role])`)) symbol.setAttribute("aria-hidden", "true");
});

addEventListener("keydown", (event) => {
  if (!["Enter", " "].includes(event.key) || !event.target.matches?.(CLICKABLE)) return;
  event.preventDefault();
  event.target.click();
});
