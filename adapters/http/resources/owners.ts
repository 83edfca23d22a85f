/** Owner of a resource that a caller created, derived from the resource's id; see {@link ./ids.ts}. */
import { createHash } from 'node:crypto';

const owned = /^([0-9a-f]{8})_[0-9a-f-]{36}$/;

/** Returns the digits that stand for an owner in ids. */
export function tagOf(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 8);
}

/** Returns the owner's digits in an id, or undefined if the resource has no owner. */
export function tagIn(id: string): string | undefined {
  return owned.exec(id)?.[1];
}

/** Returns the owner of resources that are created for a fleet. */
export function ownerOfFleet(fleet: string): string {
  return `fleet:${fleet}`;
}

/** Returns the fleet for which a resource was created, or undefined if it is not among `fleets`. */
export function fleetOfId(id: string, fleets: readonly string[]): string | undefined {
  const tag = tagIn(id);
  return tag === undefined ? undefined : fleets.find((fleet) => tagOf(ownerOfFleet(fleet)) === tag);
}
