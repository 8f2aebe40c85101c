// A socket that comes back by itself, and tells when it is open and when it is not.

const PAUSES = [500, 1000, 2000, 4000, 8000, 15000];
const SILENCE = 40_000; // the server pings every 15 s, so after this long the line is dead

export class LiveSocket extends EventTarget {
  #address;
  #socket = null;
  #failures = 0;
  #retry;
  #watch;

  /** Events: `open`, `lost` (with `failures`), `frame` (with `frame`). */
  constructor(path) {
    super();
    this.#address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    addEventListener("online", () => this.#again());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#again());
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    socket.onopen = () => {
      this.#failures = 0;
      this.#listen();
      this.dispatchEvent(new Event("open"));
    };
    socket.onmessage = ({ data }) => {
      this.#listen();
      this.dispatchEvent(Object.assign(new Event("frame"), { frame: JSON.parse(data) }));
    };
    socket.onclose = () => socket === this.#socket && this.#lost();
  }

  /** Sends a frame if the line is open; says whether it did. */
  send(frame) {
    if (this.isOpen) this.#socket.send(JSON.stringify(frame));
    return this.isOpen;
  }

  #listen() {
    clearTimeout(this.#watch);
    const socket = this.#socket;
    this.#watch = setTimeout(() => {
      // A dead line may take minutes to close; it is given up here and now.
      if (socket === this.#socket) this.#lost();
      socket.close();
    }, SILENCE);
  }

  #lost() {
    clearTimeout(this.#watch);
    this.#socket = null;
    const pause = PAUSES[Math.min(this.#failures, PAUSES.length - 1)];
    this.#failures += 1;
    // A random part keeps many pages from coming back to a restarted server at the same instant.
    this.#retry = setTimeout(() => this.connect(), pause * (0.75 + Math.random() / 2));
    this.dispatchEvent(Object.assign(new Event("lost"), { failures: this.#failures }));
  }

  #again() {
    if (this.#socket === null && this.#failures > 0) this.connect();
  }
}
