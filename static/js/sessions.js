// The sidebar's conversations: searched, renamed, deleted, kept fresh.
import { call, fragment } from "./api.js";
import { agreed, asked } from "./dialog.js";
import { on, one, settled } from "./dom.js";
import { page, text } from "./page.js";

const list = one("[data-sessions]");
const find = one("[data-session-search]");
let asking = 0;

/** Fetches the list anew, with the words of the search box, and learns the title of the page's session. */
export async function refreshSessions() {
  const mine = ++asking;
  const query = new URLSearchParams({ q: find.value, current: page.session ?? "" });
  try {
    const { html } = await fragment(`${list.dataset.sessions}?${query}`);
    // A slow answer must not overwrite a newer one, nor close a menu that somebody is using.
    if (mine === asking && !one(".menu[open]", list)) list.innerHTML = html;
  } catch {
    return; // the list that is shown stays; the next refresh brings the news
  }
  const current = page.session && one(`[data-session="${page.session}"]`, list);
  if (current) setTitle(current.dataset.title);
}

/** Shows what the page is about now: a session's title, or the name of its flow. */
export function setTitle(title) {
  page.title = title;
  document.title = `${title} · ${document.title.split(" · ").at(-1)}`;
}

/** Asks for a new title of a session and saves it. */
export async function renameSession(session, title) {
  const wanted = await asked({ title: text("rename"), label: text("title"), value: title, action: text("save") });
  if (wanted === null || wanted === title) return;
  await call("PATCH", `/api/memory/sessions/${session}`, { title: wanted });
  if (session === page.session) setTitle(wanted);
  await refreshSessions();
}

async function deleteSession(session, title) {
  const question = { title: text("deleteTitle"), text: text("deleteText", { title }), action: text("delete") };
  if (!(await agreed(question))) return;
  await call("DELETE", `/api/memory/sessions/${session}`);
  if (session === page.session) location.assign(`/flows/${page.flow}/?new=1`);
  else await refreshSessions();
}

/** The same, once for many changes at a time. */
export const refreshSoon = settled(refreshSessions, 150);

/** Wires the list; what goes wrong is told to `onTrouble(error)`. */
export function startSessions(onTrouble) {
  const act = (selector, work) =>
    on(list, "click", selector, (button) => {
      const { session, title } = button.closest(".session").dataset;
      button.closest(".menu").open = false;
      work(session, title).catch(onTrouble);
    });
  act("[data-rename]", renameSession);
  act("[data-delete]", deleteSession);
  find.addEventListener("input", settled(refreshSessions, 200));
}
