// What pointers do on the sheet: one moves it or drags a name, two pinch, the wheel zooms, a still one chooses.
const STILL = 4; // pixels within which a press is a click

export class Hand {
  #down = new Map();
  #held = null;
  #start = null;
  #moved = false;
  #spread = 0;

  /** `acts` are `at(x, y)`, `pan`, `zoom(factor, x, y)`, `drag(node, x, y)`, `drop(node)` and `click(node)`. */
  constructor(canvas, acts) {
    this.canvas = canvas;
    this.acts = acts;
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.#lift(event));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.#place(event);
    this.#down.set(event.pointerId, place);
    if (this.#down.size > 1) {
      this.#release();
      this.#moved = true;
      this.#spread = this.#pinch().spread;
      return;
    }
    [this.#held, this.#start, this.#moved] = [this.acts.at(...place), place, false];
  }

  #move(event) {
    const place = this.#place(event);
    const before = this.#down.get(event.pointerId);
    if (!before) {
      this.canvas.classList.toggle("is-over", Boolean(this.acts.at(...place)));
      return;
    }
    this.#down.set(event.pointerId, place);
    if (this.#down.size > 1) {
      const { spread, x, y } = this.#pinch();
      this.acts.zoom(spread / (this.#spread || spread), x, y);
      this.#spread = spread;
      return;
    }
    this.#moved ||= Math.hypot(place[0] - this.#start[0], place[1] - this.#start[1]) > STILL;
    if (!this.#moved) return;
    if (this.#held) this.acts.drag(this.#held, ...place);
    else this.acts.pan(place[0] - before[0], place[1] - before[1]);
  }

  #lift(event) {
    if (!this.#down.delete(event.pointerId) || this.#down.size) return;
    const held = this.#held;
    this.#release();
    if (!this.#moved && event.type === "pointerup") this.acts.click(held);
  }

  #release() {
    if (this.#held) this.acts.drop(this.#held);
    this.#held = null;
  }

  #wheel(event) {
    event.preventDefault();
    const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 20 : event.deltaY;
    this.acts.zoom(Math.exp(-step / 400), ...this.#place(event));
  }

  #pinch() {
    const [[ax, ay], [bx, by]] = [...this.#down.values()];
    return { spread: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  }
}
