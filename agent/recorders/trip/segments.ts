/** Shares of a trip by the drive of the car. */
import { type Propulsion, propulsions, type Trip } from '../../../protocol/schema/trip.ts';
import { members, type Shape } from './shape.ts';

/** Distance in km driven by each drive. */
export type Shares = Record<Propulsion, number>;

export const sharesShape: Shape = members(Object.fromEntries(propulsions.map((name) => [name, 'number'])));

export function newShares(): Shares {
  return { Thermal: 0, Electric: 0, Hybrid: 0 };
}

/**
 * Returns the segments of a trip of `distance` km, in the order of the interface. Shares with an unknown drive are
 * divided in proportion to the known ones. The percentages, in tenths, add up to 100: the remainder of the rounding is
 * added to the segments that it reduced most.
 */
export function segmentsOf(shares: Shares, distance: number): NonNullable<Trip['segments']> | undefined {
  const driven = propulsions.filter((name) => shares[name] > 0);
  const sum = driven.reduce((total, name) => total + shares[name], 0);
  if (sum <= 0) return undefined;
  const exact = driven.map((name) => (shares[name] / sum) * 1000);
  const tenths = exact.map(Math.floor);
  const order = exact.map((_, index) => index).sort((a, b) => rest(exact[b]) - rest(exact[a]) || a - b);
  const missing = 1000 - tenths.reduce((total, part) => total + part, 0);
  for (const index of order.slice(0, missing)) tenths[index] = (tenths[index] as number) + 1;
  return driven.map((propulsion, index) => ({
    propulsion,
    percent: (tenths[index] as number) / 10,
    distance: Math.round(((distance * shares[propulsion]) / sum) * 100) / 100,
  }));
}

function rest(value: number | undefined): number {
  return (value ?? 0) % 1;
}
