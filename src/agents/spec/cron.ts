const fields = [
  { name: "minute", min: 0, max: 59, words: [] },
  { name: "hour", min: 0, max: 23, words: [] },
  { name: "day of the month", min: 1, max: 31, words: [] },
  {
    name: "month",
    min: 1,
    max: 12,
    words: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { name: "day of the week", min: 0, max: 7, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
] as const;

/** What is wrong with a schedule of five fields; undefined when it is well formed. */
export function cronFault(schedule: string): string | undefined {
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return 'a schedule has five fields (minute, hour, day of the month, month, day of the week): write for example "0 9 * * 1-5"';
  for (const [index, field] of fields.entries()) {
    const fault = (parts[index] ?? "").split(",").some((item) => !isItem(item, field));
    if (fault)
      return `the ${field.name} of a schedule is *, a number from ${field.min} to ${field.max}, a range (1-5), a step (*/15) or a list of these`;
  }
  return undefined;
}

function isItem(item: string, field: (typeof fields)[number]): boolean {
  const [, range = "", step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
  if (step !== undefined && Number(step) < 1) return false;
  if (range === "*") return true;
  const ends = range.split("-").map((end) => numberOf(end, field));
  const [from, to = from] = ends;
  return (
    ends.length <= 2 && from !== undefined && to !== undefined && ends.every((end) => end !== undefined) && from <= to
  );
}

function numberOf(text: string, field: (typeof fields)[number]): number | undefined {
  const words: readonly string[] = field.words;
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return field.name === "month" ? word + 1 : word;
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= field.min && number <= field.max ? number : undefined;
}

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
