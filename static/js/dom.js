// The few words that every script says to the page.

export const one = (selector, root = document) => root.querySelector(selector);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Calls `handler(element, event)` for events of `type` within `root` on elements that match `selector`. */
export function on(root, type, selector, handler) {
  root.addEventListener(type, (event) => {
    const element = event.target instanceof Element && event.target.closest(selector);
    if (element && root.contains(element)) handler(element, event);
  });
}

/** A copy of a template's first element. */
export const copyOf = (id) => one(`#${id}`).content.firstElementChild.cloneNode(true);

/** The nodes of HTML that the server rendered and sanitised. */
export function nodesOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** Calls `work` once things have been quiet for `ms`. */
export function settled(work, ms) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(work, ms, ...given);
  };
}
