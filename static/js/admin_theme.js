// The admin's skin keeps the chosen theme under a name of its own; this carries it over from and to the product's.
const OURS = "tacit:theme";
const THEIRS = "adminTheme";

function fromOurs() {
  localStorage.setItem(THEIRS, JSON.stringify(localStorage.getItem(OURS) || "auto"));
}

function toOurs() {
  const theme = JSON.parse(localStorage.getItem(THEIRS) || '"auto"');
  if (theme === "auto") localStorage.removeItem(OURS);
  else localStorage.setItem(OURS, theme);
}

try {
  fromOurs();
  addEventListener("pagehide", toOurs);
} catch {
  // Storage may be forbidden; the system's theme is a good one.
}
