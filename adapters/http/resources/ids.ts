/**
 * Ids of what callers make. They say whose it is, so that no second list of owners has to be kept in step: eight
 * hexadecimal digits that name the owner, `_`, a UUID. What came by command or from a file has another form and is
 * everybody's on its side.
 */
import { createHash } from 'node:crypto';

const owned = /^([0-9a-f]{8})_[0-9a-f-]{36}$/;

/** `uuid` in lower case; `owner` e.g. `fleet:f1`. */
export function ownedId(owner: string, uuid: string): string {
  return `${tagOf(owner)}_${uuid}`;
}

/** Whether the id is of something that the owner made, or that nobody owns. */
export function belongsTo(id: string, owner: string): boolean {
  const tag = owned.exec(id)?.[1];
  return tag === undefined || tag === tagOf(owner);
}

function tagOf(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 8);
}
