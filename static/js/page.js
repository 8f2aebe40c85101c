// What the server tells the scripts of a page: its data, and their texts in the reader's language.
import { one } from "./dom.js";

/** `session` is null until the first message of a new conversation has begun one. */
export const page = JSON.parse(one("#page").textContent);

/** Where the conversation that is shown lives. */
export const address = () => (page.session ? `/flows/${page.flow}/${page.session}/` : `/flows/${page.flow}/`);

/** The text named `key` (`"erase.flow.title"`), with `{name}` replaced by the values given. */
export function text(key, values = {}) {
  const found = key.split(".").reduce((part, name) => part?.[name], page.text) ?? "";
  return Object.entries(values).reduce((line, [name, value]) => line.replaceAll(`{${name}}`, () => value), found);
}
