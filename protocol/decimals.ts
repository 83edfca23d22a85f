/** Rounds results to the decimals of their operands: 69.57 instead of 69.57000000000001. */

/** Above this, not every whole number is a double. */
const EXACT = 2 ** 53;
/** Powers of ten up to this one are exact doubles. */
const MOST_DECIMALS = 22;

/** Returns 10 to the power of the highest number of decimals; undefined if all are whole or one has too many. */
export function decimalScale(...numbers: readonly number[]): number | undefined {
  const decimals = Math.max(...numbers.map(decimalsOf));
  return decimals === 0 || decimals > MOST_DECIMALS ? undefined : 10 ** decimals;
}

/** Rounds to the decimals of `scale` ({@link decimalScale}). */
export function rounded(value: number, scale: number | undefined): number {
  if (scale === undefined || !(Math.abs(value * scale) < EXACT)) return value;
  // The quotient of two whole numbers is the double nearest to the decimal.
  return Math.round(value * scale) / scale;
}

/** Returns the number of digits after the decimal point in the printed number. */
function decimalsOf(number: number): number {
  const [digits = '', exponent = '0'] = String(number).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}
