/**
 * Steps of a quantity. A resolution means the decimal as written, so it is converted to the fraction
 * numerator / denominator of two integers (0.05 = 5 / 100): dividing whole numbers yields the correctly rounded
 * result, and multiplying by an inexact 0.05 does not.
 */
export class Steps {
  /** Counts of the bounds, or infinity. A bound between two steps is rounded to the nearest step. */
  readonly lowest: number;
  readonly highest: number;
  readonly #numerator: number;
  readonly #denominator: number;
  readonly #minimum: number;
  readonly #maximum: number;

  constructor(quantity: { readonly resolution: number; readonly minimum: number; readonly maximum: number }) {
    [this.#numerator, this.#denominator] = fraction(quantity.resolution);
    this.#minimum = quantity.minimum;
    this.#maximum = quantity.maximum;
    this.lowest = this.count(quantity.minimum);
    this.highest = this.count(quantity.maximum);
  }

  /** Returns the nearest count. */
  count(value: number): number {
    return Math.round((value * this.#denominator) / this.#numerator) + 0;
  }

  /** Returns the double nearest to the decimal `count × resolution`: 823 × 0.1 is 82.3. */
  value(count: number): number {
    return Math.min(Math.max((count * this.#numerator) / this.#denominator, this.#minimum), this.#maximum);
  }
}

/** Returns the printed decimal of `resolution` as two integers. */
function fraction(resolution: number): [number, number] {
  const [digits = '', exponent = '0'] = String(resolution).split('e');
  const [whole = '', decimals = ''] = digits.split('.');
  const power = Number(exponent) - decimals.length;
  const numerator = Number(whole + decimals);
  const exact = power >= 0 ? [numerator * 10 ** power, 1] : [numerator, 10 ** -power];
  // A resolution such as 1/3 has no short decimal; its products would exceed the exact integers.
  return exact[0]! < 2 ** 20 && exact[1]! < 2 ** 40 ? [exact[0]!, exact[1]!] : [resolution, 1];
}
