// Moments in a person's own time zone, which need not be the browser's.

/** The wall clock of an instant: `2026-12-11T23:59`, as fields of type datetime-local take it. */
export function wallTime(instant, zone) {
  const options = { timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" };
  const format = new Intl.DateTimeFormat("en-GB", { ...options, hour: "2-digit", minute: "2-digit" });
  const part = Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  return `${part.year.padStart(4, "0")}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
}

/** The instant that such a clock shows, in UTC with Z; null for the empty text. Of one that is skipped, an hour on. */
export function instantOf(wall, zone) {
  if (!wall) return null;
  const wanted = Date.parse(`${wall}Z`);
  let found = wanted;
  for (let round = 0; round < 2; round++) found += wanted - Date.parse(`${wallTime(found, zone)}Z`);
  return new Date(found).toISOString().replace(/\.\d+Z$/, "Z");
}
