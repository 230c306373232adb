/**
 * Whether a name fits a pattern: `*` stands for any characters, `?` for one, everything else for itself. In time
 * proportional to the product of the two lengths at worst.
 */
export function globMatches(pattern: string, name: string): boolean {
  let at = 0;
  let inName = 0;
  let star = -1;
  let resume = 0;
  while (inName < name.length) {
    const wanted = pattern[at];
    if (wanted === "*") {
      star = at++;
      resume = inName;
    } else if (wanted !== undefined && (wanted === "?" || wanted === name[inName])) {
      at++;
      inName++;
    } else if (star >= 0) {
      at = star + 1;
      inName = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
