// Lets colleagues read the conversation as it stands, and takes it along as a file.
import { call } from "../api.js";
import { agreed, asked } from "../dialog.js";
import { all, one } from "../dom.js";
import { page, text } from "../page.js";
import { copyText } from "./clipboard.js";

/** Wires sharing and export; `composer` says what happened, `onTrouble(error)` is told what went wrong. */
export function startSharing(composer, onTrouble) {
  const menu = one("[data-chat-menu]");
  const act = (selector, work) =>
    one(selector, menu).addEventListener("click", () => {
      menu.open = false;
      work(composer).catch(onTrouble);
    });
  act("[data-share]", share);
  act("[data-unshare]", unshare);
  // Before the first message there is no conversation to rename, share, export or clear.
  menu.addEventListener("toggle", () => {
    for (const part of all("[data-needs-session]", menu)) part.hidden = !page.session;
    one("[data-unshare]", menu).hidden = !page.shared;
    for (const link of all("[data-export]", menu)) {
      link.href = `/api/memory/sessions/${page.session}/export?as=${link.dataset.export}`;
    }
  });
}

async function share(composer) {
  const question = { title: text("shareTitle"), text: text("shareText"), action: text("share"), danger: false };
  if (!(await agreed(question))) return;
  const { url } = await call("POST", `/api/memory/sessions/${page.session}/share`);
  page.shared = true;
  const taken = await asked({ title: text("shared"), label: text("link"), value: url, action: text("copy") });
  if (taken !== null && (await copyText(url))) composer.say(text("copied"));
}

async function unshare(composer) {
  await call("DELETE", `/api/memory/sessions/${page.session}/share`);
  page.shared = false;
  composer.say(text("unshared"));
}
