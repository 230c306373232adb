/** Id of the n-th part (from 1) of a turn's answer: a turn that ran twice makes the same ids and cannot send twice. */
export function partId(turn: string, index: number): string {
  return `out-${turn}-${index}`;
}
