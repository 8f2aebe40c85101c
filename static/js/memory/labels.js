// Names written beside their dots: the weightiest first, and only where there is room.
const LINE = 15;
const GAP = 4;
const widths = new Map();

function widthOf(context, name) {
  const key = `${context.font} ${name}`;
  if (!widths.has(key)) widths.set(key, context.measureText(name).width);
  return widths.get(key);
}

const crosses = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Writes the names of a scene; those beside the chosen one come before all others. */
export function labelled({ context, width, height, look, placed, beside, chosen }) {
  const rank = ({ node }) => (node === chosen ? 1e9 : 0) + (beside?.has(node) ? 1e6 : 0) + node.weight;
  const first = [...placed].sort((a, b) => rank(b) - rank(a));
  const taken = [];
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  for (const { node, x, y, r } of first) {
    if (beside && !beside.has(node)) continue;
    const name = node.name.length > 18 ? `${node.name.slice(0, 17)}…` : node.name;
    context.font = `${node === chosen ? 600 : 400} ${look.fontSize} ${look.fontFamily}`;
    const half = widthOf(context, name) / 2 + 2;
    const box = { left: x - half, right: x + half, top: y + r + GAP, bottom: y + r + GAP + LINE };
    const out = box.right < 0 || box.left > width || box.bottom < 0 || box.top > height;
    if (out || (node !== chosen && taken.some((other) => crosses(box, other)))) continue;
    taken.push(box);
    // A halo in the colour of the sheet, so that no line runs through the letters.
    context.strokeStyle = look.backgroundColor;
    context.lineWidth = 4;
    context.strokeText(name, x, box.top);
    context.fillStyle = look.color;
    context.fillText(name, x, box.top);
  }
}
