/** How a physical number becomes a count of resolution steps and back. */
export interface Steps {
  /** The nearest count. */
  count(value: number): number;
  /** The double that is nearest to the decimal `count × resolution`: 823 × 0.1 gives 82.3. */
  value(count: number): number;
  /** Counts of the bounds, infinite when there is none; a bound between two steps takes the nearest. */
  readonly lowest: number;
  readonly highest: number;
}

/**
 * The steps of a quantity. A resolution is meant as the decimal that it is written as, so it is taken as the fraction
 * numerator / denominator of two integers (0.05 = 5 / 100): dividing whole numbers gives the correctly rounded
 * result where multiplying by an inexact 0.05 does not.
 */
export function quantitySteps(quantity: {
  readonly resolution: number;
  readonly minimum: number;
  readonly maximum: number;
}): Steps {
  const { resolution, minimum, maximum } = quantity;
  const [numerator, denominator] = fraction(resolution);
  const count = (value: number): number => Math.round((value * denominator) / numerator) + 0;
  const within = (value: number): number => Math.min(Math.max(value, minimum), maximum);
  return {
    count,
    value: (steps) => within((steps * numerator) / denominator),
    lowest: count(minimum),
    highest: count(maximum),
  };
}

/** The decimal that `resolution` is printed as, as two integers. */
function fraction(resolution: number): [number, number] {
  const [digits = '', exponent = '0'] = String(resolution).split('e');
  const [whole = '', decimals = ''] = digits.split('.');
  const power = Number(exponent) - decimals.length;
  const numerator = Number(whole + decimals);
  const exact = power >= 0 ? [numerator * 10 ** power, 1] : [numerator, 10 ** -power];
  // A resolution such as 1/3 has no short decimal; its products would leave the exact integers.
  return exact[0]! < 2 ** 20 && exact[1]! < 2 ** 40 ? [exact[0]!, exact[1]!] : [resolution, 1];
}
