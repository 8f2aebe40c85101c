// The profile page: everything on it are plain forms; this keeps the list beside it alive.
import { startNotices } from "./notices.js";
import { refreshSoon, startSessions } from "./sessions.js";

startSessions(() => location.reload());
startNotices(() => refreshSoon());
