// One conversation: what is sent, which turn is being answered, and what its events do to the page.
import { call } from "../api.js";
import { one } from "../dom.js";
import { address, page, text } from "../page.js";
import { refreshSoon, setTitle } from "../sessions.js";
import { newId } from "./ids.js";

const STATUS = {
  "turn.completed": "complete",
  "turn.stopped": "stopped",
  "turn.failed": "failed",
  "turn.interrupted": "interrupted",
};

export class Conversation {
  /** The turn that is being answered: `{turnId, lastId, view, frame, words}`; frame and words until it has started. */
  #live = null;
  #isShutOut = false; // the server answers, and refuses

  constructor({ log, composer, socket, memory, cards }) {
    Object.assign(this, { log, composer, socket, memory, cards });
    composer.addEventListener("send", ({ words, editOf }) => this.#send(words, editOf));
    composer.addEventListener("stop", () => this.stop());
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("lost", ({ failures }) => this.#lost(failures));
    socket.addEventListener("frame", ({ frame }) => this.#receive(frame));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.catchUp());
    if (page.running) this.#followTurn(page.running);
  }

  get isBusy() {
    return this.#live !== null;
  }

  /** Answers the question of `view` again, in a new turn that replaces it. */
  async answerAgain(view) {
    if (this.isBusy) return;
    this.#live = { turnId: null, lastId: 0, view };
    try {
      const { turn_id: turnId } = await call("POST", `/api/turns/${view.id}/regenerate`);
      view.begin(turnId);
      this.#follow({ turnId, view });
      this.log.toEnd();
    } catch (error) {
      this.#live = null;
      this.trouble(error);
    }
  }

  stop() {
    const live = this.#live;
    if (!live) return;
    live.stopWanted = true;
    if (!live.turnId) return; // said again when the turn has started
    if (!this.socket.send({ type: "turn.stop", turn_id: live.turnId })) {
      call("POST", `/api/turns/${live.turnId}/stop`).catch((error) => this.trouble(error));
    }
  }

  /** Shows what another page or device added to this session, and follows it if it is being answered. */
  async catchUp() {
    if (!page.session || this.isBusy) return;
    try {
      await this.log.fetchNewer(() => !this.isBusy);
    } catch (error) {
      if (error.status === 404) await this.#notFound();
      return;
    }
    const last = this.log.last;
    if (last?.dataset.status === "running" && !this.isBusy) this.#followTurn(last.dataset.turn);
  }

  /** Shows the empty state in place of a conversation that was erased, here or on another page. */
  wasErased() {
    const unsent = this.#live?.words;
    this.#live = null;
    this.log.clear();
    this.composer.leave(() => (page.session = null));
    if (unsent) this.composer.giveBack(unsent, null);
    page.shared = false;
    this.memory.sessionGone();
    history.replaceState(null, "", `${address()}?new=1`);
    setTitle(one(".bar h1").textContent);
    this.composer.say(text("erased"));
  }

  /** Says in one line what went wrong. */
  trouble(error) {
    if (error.code === "turn_running") return this.#attachToRunning(error.turnId);
    const loggedOut = error.status === 401 || error.status === 403;
    this.composer.say(loggedOut ? text("loggedOut") : error.message || text("failed"), { trouble: true });
  }

  /** The page of the session is gone: with the session, or because its flow may no longer be used. */
  async #notFound() {
    const session = page.session;
    try {
      await call("GET", `/api/memory/sessions/${session}?limit=1`);
    } catch (error) {
      if (error.status === 404 && session && session === page.session) return this.wasErased();
    }
    this.composer.say(text("gone"), { trouble: true });
  }

  #send(words, editOf) {
    const frame = { type: "turn.start", input: words, client_turn_id: newId() };
    if (page.session) frame.session_id = page.session;
    if (editOf) frame.edit_of = editOf;
    if (!this.memory.isOn) frame.memory = false;
    const replaced = editOf && this.log.view(editOf);
    const view = this.log.add(words);
    if (replaced) replaced.element.hidden = true;
    this.#live = { turnId: null, lastId: 0, view, frame, words, replaced };
    this.composer.busy = true;
    this.composer.say("");
    if (!this.socket.send(frame)) this.composer.say(text("offline"), { trouble: true });
  }

  #followTurn(turnId) {
    const view = this.log.view(turnId);
    view.begin(turnId);
    // A draft that is this very question was kept only until the server had it.
    if (this.composer.words === view.question) this.composer.words = "";
    this.#follow({ turnId, view });
  }

  #follow({ turnId, view }) {
    this.#live = { turnId, lastId: 0, view };
    this.composer.busy = true;
    this.socket.send({ type: "turn.attach", turn_id: turnId, after: 0 });
  }

  #opened() {
    this.#isShutOut = false;
    this.composer.say("");
    const live = this.#live;
    if (!live) return;
    // The same client_turn_id again: the server starts it once, however often it hears of it.
    const { turnId, lastId, frame } = live;
    if (turnId) this.socket.send({ type: "turn.attach", turn_id: turnId, after: lastId });
    else if (frame) this.socket.send(frame);
  }

  async #lost(failures) {
    if (this.#isShutOut || (failures < 2 && !this.isBusy)) return; // a moment's loss that nobody waits for
    this.composer.say(text("offline"), { trouble: true });
    if (failures !== 2) return;
    try {
      // A refused socket does not say why; the API does.
      await call("GET", `/api/flows/${page.flow}`);
    } catch (error) {
      this.#isShutOut = error.status !== undefined;
      if (this.#isShutOut) this.trouble(error);
    }
  }

  #receive(frame) {
    if (frame.type === "error") return this.#refused(frame);
    const live = this.#live;
    if (!live || frame.type === "ping") return;
    if (!live.turnId && frame.type === "turn.started") live.turnId = frame.turn_id;
    if (frame.turn_id !== live.turnId) return;
    const isLast = frame.type in STATUS;
    if (!isLast && frame.id <= live.lastId) return;
    live.lastId = Math.max(live.lastId, frame.id);
    if (isLast) this.#ended(live, frame);
    else this.#happened(live, frame);
  }

  #happened({ view }, frame) {
    switch (frame.type) {
      case "turn.started":
        return this.#started(frame);
      case "memory.used":
        view.showRecalled(frame);
        return this.#noteLeftOut(view, frame);
      case "delta":
        return view.addText(frame.text);
      case "block":
        return view.addBlock(frame.html, frame.rest);
      case "tool.result":
        return frame.ok && view.showTool(frame.name);
      case "action.proposed":
        return this.cards.show(view.element, { ...frame, status: "pending" });
      case "usage":
        return view.showTokens(frame.prompt_tokens + frame.completion_tokens);
    }
  }

  #started(frame) {
    const live = this.#live;
    live.view.begin(frame.turn_id, frame.seq);
    live.replaced?.element.remove();
    if (live.frame) this.composer.accepted(() => page.session ?? this.#beganSession(frame.session_id));
    live.frame = live.words = live.replaced = null;
    if (live.stopWanted) this.stop();
    refreshSoon();
  }

  #beganSession(session) {
    page.session = session;
    history.replaceState(null, "", address());
    this.memory.sessionBegan();
  }

  #noteLeftOut(view, { missing = [], budget = {} }) {
    const { missing: notes, cut } = page.text;
    for (const name in cut) if (budget[name]) view.addNote(cut[name]);
    for (const code of missing) view.addNote(notes[code] ?? notes.other);
  }

  #ended({ view }, frame) {
    if (frame.code === "erased") return this.wasErased();
    const status = STATUS[frame.type];
    view.end(status, frame.html);
    if (status === "failed") view.addNote(frame.detail);
    else if (page.text.endings[status]) view.addNote(page.text.endings[status]);
    this.#live = null;
    this.composer.busy = false;
    this.composer.say("");
    this.cards.refresh();
    refreshSoon();
  }

  #refused(frame) {
    const live = this.#live;
    if (!live || frame.code === "turn_ended") return;
    if (live.turnId) {
      // The turn that was followed is gone: erased, perhaps from another device.
      live.view.end("interrupted");
      live.view.addNote(frame.detail);
    } else {
      this.log.remove(live.view);
      if (live.replaced) live.replaced.element.hidden = false;
      this.composer.giveBack(live.words, live.frame.edit_of);
    }
    this.#live = null;
    this.composer.busy = false;
    if (frame.code === "turn_running") this.#attachToRunning(frame.turn_id);
    else this.composer.say(frame.detail, { trouble: true });
    if (frame.code === "not_found") this.catchUp();
  }

  async #attachToRunning(turnId) {
    this.composer.say(text("busy"), { trouble: true });
    if (!this.log.view(turnId)) await this.log.fetchNewer(() => !this.isBusy).catch(() => {});
    if (this.log.view(turnId) && !this.isBusy) this.#followTurn(turnId);
  }
}
