// The sidebar's conversations: searched, renamed, deleted, kept fresh.
import { call, fragment } from "./api.js";
import { agreed, asked } from "./dialog.js";
import { on, one, settled } from "./dom.js";
import { text } from "./page.js";

const list = one("[data-sessions]");
const find = one("[data-session-search]");
let asking = 0;

/** Fetches the list anew, with the words of the search box. */
export async function refreshSessions() {
  const mine = ++asking;
  const query = new URLSearchParams({ q: find.value, current: list.dataset.current });
  try {
    const { html } = await fragment(`${list.dataset.sessions}?${query}`);
    // A slow answer must not overwrite a newer one, nor close a menu that somebody is using.
    if (mine === asking && !one(".menu[open]", list)) list.innerHTML = html;
  } catch {
    // The list that is shown stays; the next refresh brings the news.
  }
}

/** Marks the session that the page shows. */
export function setCurrentSession(session) {
  list.dataset.current = session ?? "";
}

/** Asks for a new title and saves it; returns it, or null. */
export async function renameSession(session, title) {
  const wanted = await asked({ title: text("rename"), label: text("title"), value: title, action: text("save") });
  if (wanted === null || wanted === title) return null;
  await call("PATCH", `/api/memory/sessions/${session}`, { title: wanted });
  await refreshSessions();
  return wanted;
}

async function deleteSession(session, title) {
  const question = { title: text("deleteTitle"), text: text("deleteText", { title }), action: text("delete") };
  if (!(await agreed(question))) return;
  await call("DELETE", `/api/memory/sessions/${session}`);
  if (session === list.dataset.current) location.assign(`/flows/${list.dataset.flow}/?new=1`);
  else await refreshSessions();
}

/** Wires the list; `onRenamed(session, title)` and `onTrouble(error)` tell the page. */
export function startSessions({ onRenamed = () => {}, onTrouble = () => {} } = {}) {
  find.addEventListener("input", settled(refreshSessions, 200));
  on(list, "click", "[data-rename]", async (button) => {
    const { session, title } = button.closest(".session").dataset;
    button.closest(".menu").open = false;
    try {
      const wanted = await renameSession(session, title);
      if (wanted) onRenamed(session, wanted);
    } catch (error) {
      onTrouble(error);
    }
  });
  on(list, "click", "[data-delete]", (button) => {
    const { session, title } = button.closest(".session").dataset;
    button.closest(".menu").open = false;
    deleteSession(session, title).catch(onTrouble);
  });
}
