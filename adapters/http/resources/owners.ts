/** Owner of a callers' object, by its id; see {@link ./ids.ts}. */
import { createHash } from 'node:crypto';

const owned = /^([0-9a-f]{8})_[0-9a-f-]{36}$/;

/** The digits that name an owner in ids. */
export function tagOf(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 8);
}

/** Those digits of an id; undefined: it has no owner. */
export function tagIn(id: string): string | undefined {
  return owned.exec(id)?.[1];
}

/** Owner of what is made for a fleet. */
export function ownerOfFleet(fleet: string): string {
  return `fleet:${fleet}`;
}

/** Which of the fleets something was made for; undefined: for none of them. */
export function fleetOfId(id: string, fleets: readonly string[]): string | undefined {
  const tag = tagIn(id);
  return tag === undefined ? undefined : fleets.find((fleet) => tagOf(ownerOfFleet(fleet)) === tag);
}
