// Talks to the server over HTTP: JSON for the API, HTML for fragments of the page.
import { one } from "./dom.js";

/** What the server refused. `code` is the API's, `turnId` the turn that it names, `mistakes` each `{attr, detail}`. */
export class Refused extends Error {
  constructor(status, body) {
    const first = body?.errors?.[0] ?? {};
    super(first.detail ?? "");
    this.status = status;
    this.code = first.code ?? "";
    this.turnId = body?.turn_id ?? null;
    this.mistakes = body?.errors ?? [];
  }
}

async function send(method, path, headers, body) {
  // A redirect of our own pages means: log in first.
  const response = await fetch(path, { method, headers, body, redirect: "manual", credentials: "same-origin" });
  if (response.type === "opaqueredirect") throw new Refused(401, null);
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => null));
  return response;
}

/** Calls the API; returns the JSON of the answer, null when it has none. Throws Refused, or TypeError offline. */
export async function call(method, path, body) {
  const headers = { "X-CSRFToken": one("[name=csrfmiddlewaretoken]").value, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await send(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
  return response.status === 204 ? null : response.json();
}

/** Fetches a fragment: `{html, older}`, older when more turns come before it. */
export async function fragment(path) {
  const response = await send("GET", path, { Accept: "text/html" });
  return { html: await response.text(), older: response.headers.get("Tacit-Older") === "1" };
}
