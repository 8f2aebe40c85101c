// The chat page: makes its parts and lets them know each other.
import { on, one } from "../dom.js";
import { startNotices } from "../notices.js";
import { page } from "../page.js";
import { refreshSoon, renameSession, startSessions } from "../sessions.js";
import { LiveSocket } from "../socket.js";
import { startActions } from "./actions.js";
import { Cards } from "./cards.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Log } from "./log.js";
import { MemorySwitch, startErasing, startFlowMemory } from "./memory.js";
import { startSharing } from "./sharing.js";

const log = new Log();
const composer = new Composer();
const memory = new MemorySwitch((error) => trouble(error));
const socket = new LiveSocket(`/ws/flows/${page.flow}/`);
const cards = new Cards(log.root, () => conversation.catchUp());
log.grown(); // by the cards
const conversation = new Conversation({ log, composer, socket, memory, cards });
const trouble = (error) => conversation.trouble(error);

log.onTurns = (turns) => {
  cards.dress(turns);
  cards.refresh();
};
startActions({ log, composer, conversation });
startErasing(trouble);
startFlowMemory(trouble);
startSharing(composer, trouble);
startSessions(trouble);
startNotices((session, erased) => {
  refreshSoon();
  if (erased && session === page.session) conversation.wasErased();
  else if (session === null || session === page.session) conversation.catchUp();
});
socket.connect();

on(document, "click", "[data-starter]", (button) => {
  composer.words = button.textContent;
  composer.focus();
});

one("[data-rename-current]").addEventListener("click", ({ target }) => {
  target.closest(".menu").open = false;
  renameSession(page.session, page.title).catch(trouble);
});
