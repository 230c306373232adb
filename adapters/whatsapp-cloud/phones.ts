/**
 * One line that WhatsApp may write in two ways: Brazil's mobile numbers with and without the ninth digit, Argentina's
 * with and without the 9 behind the country's code, Mexico's with and without the 1. Each pair is the same subscriber by
 * the countries' numbering plans; which of the two Meta uses depends on when the person joined.
 */
const twins: readonly (readonly [from: RegExp, to: string])[] = [
  [/^55(\d{2})9([6-9]\d{7})$/, "55$1$2"],
  [/^55(\d{2})([6-9]\d{7})$/, "55$19$2"],
  [/^549(\d{10})$/, "54$1"],
  [/^54([1-8]\d{9})$/, "549$1"],
  [/^521(\d{10})$/, "52$1"],
  [/^52([2-9]\d{9})$/, "521$1"],
];

/** The other way to write that phone number, if there is one. */
export function twinOf(phone: string): string | undefined {
  const found = twins.find(([from]) => from.test(phone));
  // A replacement "$19" is not read as group 19: there are only two groups.
  return found ? phone.replace(found[0], found[1]) : undefined;
}

/** Digits of a phone number as Meta writes them, which may be with a plus and spaces; undefined for anything else. */
export function digitsOf(text: string | undefined): string | undefined {
  const digits = text?.replace(/[\s()+.-]/g, "");
  return digits !== undefined && /^\d{1,20}$/.test(digits) ? digits : undefined;
}
