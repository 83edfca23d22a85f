/** Returns the greatest common divisor of the differences; 1 if all values are equal. */
export function stepOf(values: readonly number[]): number {
  let step = 0;
  for (let i = 1; i < values.length && step !== 1; i++) {
    let rest = Math.abs(values[i]! - values[i - 1]!);
    if (step === 0) {
      step = rest;
      continue;
    }
    rest %= step;
    while (rest !== 0) [step, rest] = [rest, step % rest];
  }
  return step === 0 ? 1 : step;
}
