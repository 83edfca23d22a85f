/**
 * Ids of resources that callers create: eight hexadecimal digits for the owner, `_`, a UUID. They contain the owner, so
 * that no separate list of owners has to be kept consistent. Resources created by commands or files have ids of another
 * form and belong to all callers of their side.
 */
import { refuseOther } from '../idempotency.ts';
import type { Context } from './context.ts';
import { tagIn, tagOf } from './owners.ts';

/** Returns the id made of a lower-case `uuid` and the digits of an `owner`, e.g. `fleet:f1`. */
export function ownedId(owner: string, uuid: string): string {
  return `${tagOf(owner)}_${uuid}`;
}

/** Returns true if this owner owns the resource with this id, or if the resource has no owner. */
export function belongsTo(id: string, owner: string): boolean {
  const tag = tagIn(id);
  return tag === undefined || tag === tagOf(owner);
}

/** Length of a UUID, and of the part that is derived from the idempotency key. */
const UUID_LENGTH = 36;
const KEY_LENGTH = 18;

/**
 * Returns the UUID of the resource that a request creates. With an `Idempotency-Key` it has version 8 (RFC 9562 §5.8),
 * its first half derived from the key and its second from the body, so that a repeated request creates the same id.
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
 * Returns the existing id that a request with the same key created, or undefined; ids end with a UUID.
 * @throws VigieError `input.malformed` if that request had another body
 */
export function madeBefore({ call }: Context, uuid: string, ids: readonly string[]): string | undefined {
  if (call.once === undefined) return undefined;
  const before = ids.find((id) => id.slice(-UUID_LENGTH).startsWith(uuid.slice(0, KEY_LENGTH)));
  return before === undefined || before.endsWith(uuid) ? before : refuseOther();
}
