// The tasks page: the dialog in which work is given and edited; everything else are plain forms.
import { call } from "./api.js";
import { agreed } from "./dialog.js";
import { all, on, one } from "./dom.js";
import { startNotices } from "./notices.js";
import { text } from "./page.js";
import { refreshSoon, startSessions } from "./sessions.js";

const dialog = one("#task-dialog");
const form = one("form", dialog);
const people = one("select", form);
const toGive = form.action;

/** Fills the list of those whom one may give work to; it is asked for when it is needed, and that is noted. */
async function fetchPeople() {
  const away = one("[data-people-away]", form);
  away.hidden = true;
  const found = [];
  try {
    for (let next = "/api/people?assignable=true&limit=200"; next; ) {
      const list = await call("GET", next);
      found.push(...list.results);
      next = list.next && new URL(list.next).pathname + new URL(list.next).search;
    }
  } catch {
    away.textContent = text("peopleAway");
    away.hidden = false;
    return;
  }
  const mine = Number(people.dataset.me);
  const options = found
    .filter((person) => person.user_id !== mine)
    .map(({ user_id, display_name, position }) => new Option([display_name, position].filter(Boolean).join(" · "), user_id));
  const chosen = people.value || people.dataset.chosen;
  people.replaceChildren(new Option(text("myself"), mine), ...options);
  people.value = [...people.options].some((option) => option.value === chosen) ? chosen : String(mine);
}

/** Opens the dialog for a new task, or for the one whose fields and address are given. */
function open({ fields = null, action = toGive, editing = fields !== null } = {}) {
  form.action = action;
  for (const [name, value] of Object.entries(fields ?? {})) form.elements[name].value = value;
  one("[data-assignee]", form).hidden = editing;
  people.disabled = editing;
  one("h2", dialog).textContent = text(editing ? "editTask" : "newTask");
  one("[data-ok]", dialog).textContent = text(editing ? "save" : "give");
  if (!editing) {
    people.value = people.dataset.chosen;
    fetchPeople();
  }
  dialog.showModal();
  form.elements.title.focus();
}

function startAnew() {
  for (const field of all("input:not([type=hidden]), textarea", form)) field.value = "";
  for (const error of all("[role=alert]", form)) error.remove();
}

on(document, "click", "[data-new]", () => {
  startAnew();
  people.dataset.chosen = people.dataset.me;
  open();
});
on(document, "click", "[data-edit]", (button) => {
  startAnew();
  open({ fields: JSON.parse(button.dataset.edit), action: button.dataset.action });
});
on(dialog, "click", "[data-close]", () => dialog.close());

on(document, "submit", "[data-cancel-task]", async (ending, event) => {
  if (ending.dataset.agreed) return;
  event.preventDefault();
  const title = ending.dataset.cancelTask;
  if (!(await agreed({ title: text("cancelTitle"), text: text("cancelText", { title }), action: text("cancelTask") }))) return;
  ending.dataset.agreed = "yes";
  ending.requestSubmit(one("button", ending));
});

/** A link from a person's page gives work to that person; anybody else's number counts for oneself. */
if (dialog.dataset.for) {
  people.dataset.chosen = dialog.dataset.for;
  open();
}
if (dialog.dataset.open) open({ action: dialog.dataset.open, editing: "editing" in dialog.dataset });

document.addEventListener("tacit:task", () => {
  one("[data-arrived]").hidden = false;
});
startSessions(() => location.reload());
startNotices(() => refreshSoon());
