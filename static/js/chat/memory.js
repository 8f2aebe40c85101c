// The memory switch of this conversation, and clearing memory in its three scopes.
import { call } from "../api.js";
import { agreed } from "../dialog.js";
import { all, one } from "../dom.js";
import { page, text } from "../page.js";

export class MemorySwitch {
  #chip = one("[data-memory]");

  constructor(onTrouble) {
    this.onTrouble = onTrouble;
    this.#chip.addEventListener("click", () => this.#turn(!this.isOn));
  }

  get isOn() {
    return this.#chip.getAttribute("aria-checked") === "true";
  }

  /** The session is gone: the next one begins with memory on, where that may be chosen. */
  sessionGone() {
    if (!this.#chip.disabled) this.#chip.setAttribute("aria-checked", true);
  }

  /** A new session has begun: what was chosen before its first message holds for it. */
  sessionBegan() {
    if (!this.isOn && !this.#chip.disabled) this.#save(false).catch(this.onTrouble);
  }

  async #turn(on) {
    this.#chip.setAttribute("aria-checked", on);
    try {
      if (page.session) await this.#save(on);
    } catch (error) {
      this.#chip.setAttribute("aria-checked", !on);
      this.onTrouble(error);
    }
  }

  #save(on) {
    return call("PATCH", `/api/memory/sessions/${page.session}`, { memory_enabled: on });
  }
}

/** Wires the switch of the whole flow; the page is fetched anew, for it shows in several places. */
export function startFlowMemory(onTrouble) {
  const button = one("[data-flow-memory]");
  button.addEventListener("click", () => {
    const wanted = { memory_enabled: button.dataset.flowMemory === "on" };
    call("PUT", `/api/flows/${page.flow}/memory`, wanted).then(() => location.reload(), onTrouble);
  });
}

/** Wires "clear memory"; what goes wrong is told to `onTrouble(error)`. */
export function startErasing(onTrouble) {
  for (const button of all("[data-erase]")) {
    button.addEventListener("click", () => {
      button.closest(".menu").open = false;
      erase(button.dataset.erase).catch(onTrouble);
    });
  }
}

async function erase(scope) {
  const question = {
    title: text(`erase.${scope}.title`),
    text: text(`erase.${scope}.text`, { title: page.title }),
    action: text("clear"),
  };
  if (!(await agreed(question))) return;
  const where = { session: { session_id: page.session }, flow: { flow_id: page.flow }, all: {} }[scope];
  try {
    await call("POST", "/api/memory/erase", { scope, ...where });
  } catch (error) {
    if (error.status !== 404) throw error; // there was nothing to erase, or it went on another page
  }
  // A draft may quote what is now gone.
  sessionStorage.clear();
  location.assign(`/flows/${page.flow}/?new=1`);
}
