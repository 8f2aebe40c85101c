// What the server tells a person's open pages: a session of theirs has changed on this page, another one or elsewhere.
import { LiveSocket } from "./socket.js";

/** Calls `onChange(session)` for every session that changes; null when notices may have been missed. */
export function startNotices(onChange) {
  const socket = new LiveSocket("/ws/me/");
  let wasOpen = false;
  socket.addEventListener("open", () => {
    if (wasOpen) onChange(null);
    wasOpen = true;
  });
  socket.addEventListener("frame", ({ frame }) => frame.type === "session.changed" && onChange(frame.session_id));
  socket.connect();
}
