/** Numbers with as many decimals as what they are made of: 69.57 instead of 69.57000000000001. */

/** Beyond this, not every whole number is a double. */
const EXACT = 2 ** 53;
/** Powers of ten up to this one are exact doubles. */
const MOST_DECIMALS = 22;

/** 10 to the power of the decimals of the number that has most; undefined: none has any, or as many as a double has. */
export function decimalScale(...numbers: readonly number[]): number | undefined {
  const decimals = Math.max(...numbers.map(decimalsOf));
  return decimals === 0 || decimals > MOST_DECIMALS ? undefined : 10 ** decimals;
}

/** With the decimals that `scale` ({@link decimalScale}) stands for. */
export function rounded(value: number, scale: number | undefined): number {
  if (scale === undefined || !(Math.abs(value * scale) < EXACT)) return value;
  // The quotient of two whole numbers is the double that is nearest to the decimal.
  return Math.round(value * scale) / scale;
}

/** Digits behind the point of a number as it is written. */
function decimalsOf(number: number): number {
  const [digits = '', exponent = '0'] = String(number).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}
