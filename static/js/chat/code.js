// Code in answers: the language's name and a copy button over each block.
import { all, on } from "../dom.js";
import { text } from "../page.js";
import { copyText } from "./clipboard.js";

/** Gives each code block within `root` its bar. */
export function dressCode(root) {
  for (const pre of all("pre", root)) {
    if (pre.parentElement?.classList.contains("code")) continue;
    const frame = document.createElement("div");
    const bar = document.createElement("div");
    const name = document.createElement("span");
    const button = document.createElement("button");
    frame.className = "code";
    bar.className = "code-bar";
    name.textContent = pre.firstElementChild?.className.replace("language-", "") ?? "";
    button.type = "button";
    button.dataset.copyCode = "";
    button.textContent = text("copy");
    bar.append(name, button);
    pre.replaceWith(frame);
    frame.append(bar, pre);
    pre.tabIndex = 0; // wide code is scrolled by keyboard too
  }
}

/** Wires the copy buttons of the code within `root`. */
export function startCode(root) {
  on(root, "click", "[data-copy-code]", async (button) => {
    const code = button.closest(".code").querySelector("pre");
    if (!(await copyText(code.textContent))) return;
    button.textContent = text("copied");
    setTimeout(() => (button.textContent = text("copy")), 2000);
  });
}
