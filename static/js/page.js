// What the server tells the scripts of a page: its data, and their texts in the reader's language.
import { one } from "./dom.js";

export const page = JSON.parse(one("#page")?.textContent ?? "{}");

/** The text named `key` (`"erase.flow.title"`), with `{name}` replaced by the values given. */
export function text(key, values = {}) {
  const found = key.split(".").reduce((part, name) => part?.[name], page.text) ?? "";
  return Object.entries(values).reduce((line, [name, value]) => line.replaceAll(`{${name}}`, () => value), found);
}
