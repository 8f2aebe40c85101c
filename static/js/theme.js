// Runs before the first paint: the theme that this browser chose, else the system's.
try {
  const theme = localStorage.getItem("tacit:theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is a good one.
}
