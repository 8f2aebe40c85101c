// What the server tells a person's open pages: a session of theirs has changed on this page, another one or elsewhere;
// somebody gave them work; work that they do or gave is overdue; a report was made for them or shared with them.
import { one } from "./dom.js";
import { LiveSocket } from "./socket.js";

/** Calls `onChange(session, erased)` for every session that changes; null when notices may have been missed. */
export function startNotices(onChange) {
  const socket = new LiveSocket("/ws/me/");
  let wasOpen = false;
  socket.addEventListener("open", () => {
    if (wasOpen) onChange(null);
    wasOpen = true;
  });
  socket.addEventListener("frame", ({ frame }) => {
    if (frame.type === "session.changed") onChange(frame.session_id, frame.erased === true);
    if (frame.type === "task.assigned" || frame.type === "task.overdue") markWork();
    if (frame.type === "report.ready") showReport(frame.report_id);
  });
  socket.connect();
}

/** Puts the mark beside the way to the tasks; the page that shows them hears of it as `tacit:task`. */
function markWork() {
  one("[data-tasks-link] .dot")?.removeAttribute("hidden");
  document.dispatchEvent(new Event("tacit:task"));
}

/** Shows the way to a report; pages that list reports hear of it as `tacit:report`. */
function showReport(id) {
  const link = one("[data-report-link]");
  if (link) {
    link.href = `${link.dataset.reportLink}${id}/`;
    link.hidden = false;
  }
  document.dispatchEvent(new CustomEvent("tacit:report", { detail: id }));
}
