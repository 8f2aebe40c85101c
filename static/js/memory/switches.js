// The switches of memory, and erasing everything.
import { call } from "../api.js";
import { agreed } from "../dialog.js";
import { all, on, one } from "../dom.js";
import { text } from "../page.js";

/** Wires them; `say(words)` tells what happened. */
export function startSwitches({ say, onTrouble }) {
  on(document, "click", "[data-switch]", (button) => turn(button, allFlows).then(() => say(text("saved")), onTrouble));
  on(document, "click", "[data-flow-switch]", (button) => turn(button, oneFlow).then(() => say(text("saved")), onTrouble));
  on(document, "click", "[data-erase-all]", () => erase().catch(onTrouble));
}

const allFlows = (button, wanted) => call("PATCH", "/api/memory/settings", { [button.dataset.switch]: wanted });
const oneFlow = (button, wanted) => call("PUT", `/api/flows/${button.dataset.flowSwitch}/memory`, { memory_enabled: wanted });

async function turn(button, save) {
  const wanted = button.getAttribute("aria-checked") !== "true";
  button.setAttribute("aria-checked", wanted);
  try {
    await save(button, wanted);
  } catch (error) {
    button.setAttribute("aria-checked", !wanted);
    throw error;
  }
  if (button.dataset.switch !== "memory_enabled") return;
  for (const face of all("[data-when]", one(".switches"))) face.hidden = (face.dataset.when === "on") !== wanted;
}

async function erase() {
  if (!(await agreed({ title: text("eraseTitle"), text: text("eraseText"), action: text("erase") }))) return;
  await call("POST", "/api/memory/erase", { scope: "all" });
  sessionStorage.clear(); // a draft may quote what is now gone
  location.assign("/memory/");
}
