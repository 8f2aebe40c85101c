// Copies text, also where the page came over plain HTTP and the browser has no clipboard to offer.

/** Copies `text`; says whether it could. */
export async function copyText(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed here: the older way may still be.
    }
  }
  const holder = document.createElement("textarea");
  holder.value = text;
  holder.readOnly = true;
  holder.className = "visually-hidden";
  document.body.append(holder);
  const focused = document.activeElement;
  holder.select();
  const copied = document.execCommand("copy");
  holder.remove();
  focused?.focus();
  return copied;
}
