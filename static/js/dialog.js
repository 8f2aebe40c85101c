// Asks a person one question in the page's dialog and waits for the answer.
import { one } from "./dom.js";

const dialog = one("#dialog");
one("[data-cancel]", dialog).addEventListener("click", () => dialog.close("cancel"));

function show({ title, text = "", action, danger = false, label, value = "" }) {
  const field = one(".field", dialog);
  const input = one("input", field);
  const ok = one("button[value=ok]", dialog);
  one("h2", dialog).textContent = title;
  one("p", dialog).textContent = text;
  one("p", dialog).hidden = !text;
  ok.textContent = action;
  ok.classList.toggle("danger", danger);
  field.hidden = label === undefined;
  one("span", field).textContent = label ?? "";
  input.required = label !== undefined;
  input.value = value;
  dialog.returnValue = "cancel";
  dialog.showModal();
  if (label !== undefined) input.select();
  else one("[data-cancel]", dialog).focus();
  return new Promise((answered) => {
    dialog.addEventListener("close", () => answered(dialog.returnValue === "ok" ? input.value.trim() || true : null), {
      once: true,
    });
  });
}

/** Whether the person agrees to what `text` says. */
export const agreed = async (question) => (await show({ danger: true, ...question })) !== null;

/** The line of text that the person gives, or null. */
export async function asked(question) {
  const line = await show(question);
  return typeof line === "string" ? line : null;
}
