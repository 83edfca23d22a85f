/**
 * Ids of what callers make. They say whose it is, so that no second list of owners has to be kept in step: eight
 * hexadecimal digits that name the owner, `_`, a UUID. What came by command or from a file has another form and is
 * everybody's on its side.
 */
import { refuseOther } from '../idempotency.ts';
import type { Context } from './context.ts';
import { tagIn, tagOf } from './owners.ts';

/** `uuid` in lower case; `owner` e.g. `fleet:f1`. */
export function ownedId(owner: string, uuid: string): string {
  return `${tagOf(owner)}_${uuid}`;
}

/** Whether the id belongs to a resource of this owner, or to one without owner. */
export function belongsTo(id: string, owner: string): boolean {
  const tag = tagIn(id);
  return tag === undefined || tag === tagOf(owner);
}

/** A UUID of a length, and the part of it that a key decides. */
const UUID_LENGTH = 36;
const KEY_LENGTH = 18;

/**
 * The UUID of what a request makes. With an `Idempotency-Key` it is of version 8 (RFC 9562 §5.8), its first half made
 * from the key and its second from the body, so that the request makes the same again, whatever was forgotten.
 */
export function uuidFor({
  call,
  served,
}: Pick<Context, 'call'> & { readonly served: Pick<Context['served'], 'newId'> }): string {
  if (call.once === undefined) return served.newId();
  const { key, body } = call.once;
  const variant = `${key.slice(0, 8)}-${key.slice(8, 12)}-8${key.slice(12, 15)}`;
  return `${variant}-8${body.slice(0, 3)}-${body.slice(3, 15)}`;
}

/**
 * The id of what a request with the same key made before and is still there; ids end with a UUID.
 * @throws VigieError `input.malformed` when it had another body
 */
export function madeBefore({ call }: Context, uuid: string, ids: readonly string[]): string | undefined {
  if (call.once === undefined) return undefined;
  const before = ids.find((id) => id.slice(-UUID_LENGTH).startsWith(uuid.slice(0, KEY_LENGTH)));
  return before === undefined || before.endsWith(uuid) ? before : refuseOther();
}
