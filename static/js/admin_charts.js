// Draws each chart of a page from the table that tells its numbers, in the colours of its legend, with the Chart.js of
// the admin's skin. Where that is missing the table stays open.
import { all, one } from "./dom.js";

const number = (cell) => Number(cell.textContent);

/** A colour as the stylesheet has it now, by day or by night. */
const colour = (part) => getComputedStyle(part).color;

/** What the table of a chart says: labels, and for each series its name and values. */
function read(chart) {
  const rows = all("tbody tr", chart);
  const [, ...names] = all("thead th", chart).map((cell) => cell.textContent);
  return {
    labels: rows.map((row) => one("th", row).textContent),
    series: names.map((name, place) => ({ name, values: rows.map((row) => number(all("td", row)[place])) })),
  };
}

function dataset({ name, values }, swatch) {
  const isLine = swatch.classList.contains("is-line");
  const shape = isLine
    ? { type: "line", borderWidth: 2, pointRadius: 2.5, tension: 0, order: 0 }
    : { type: "bar", borderRadius: 3, maxBarThickness: 18, categoryPercentage: 0.7, order: 1 };
  return { label: name, data: values, borderColor: colour(swatch), backgroundColor: colour(swatch), ...shape };
}

function options(chart) {
  const style = getComputedStyle(chart);
  const quiet = colour(one("summary", chart));
  const font = { family: style.fontFamily, size: 12 };
  return {
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "index", intersect: false },
    plugins: { legend: { display: false }, tooltip: { titleFont: font, bodyFont: font, boxPadding: 4 } },
    scales: {
      x: { grid: { display: false }, border: { color: quiet }, ticks: { color: quiet, font, maxRotation: 0, autoSkipPadding: 12 } },
      y: { beginAtZero: true, suggestedMax: 4, border: { display: false }, grid: { color: style.borderTopColor }, ticks: { color: quiet, font, precision: 0 } },
    },
  };
}

function draw(chart) {
  const { labels, series } = read(chart);
  const swatches = all(".swatch", chart);
  const canvas = one("canvas", chart);
  window.Chart.getChart(canvas)?.destroy();
  const datasets = series.map((part, place) => dataset(part, swatches[place]));
  new window.Chart(canvas, { data: { labels, datasets }, options: options(chart) });
}

const charts = window.Chart ? all("[data-chart]").filter((chart) => one("table", chart)) : [];
for (const chart of charts) {
  one(".plot-ground", chart).hidden = false;
  one("details", chart).open = false;
}
const drawAll = () => charts.forEach(draw);
drawAll();
// The skin changes the theme by a class, the system's theme changes by itself; either way the colours are read again.
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["class"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
