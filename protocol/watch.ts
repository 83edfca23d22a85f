/**
 * Notice to a car on `down/watch` that a client watches it live: for a while, it sends at once the data that it would
 * otherwise batch to save bytes. It is not a command and is not signed: it changes only when messages are sent.
 */
import { checkBounds } from './cbor/bounds.ts';
import { compile } from './cbor/codec.ts';
import { quantity, record, required, type Static } from './schema/fields.ts';

/** Longest duration of a watch in ms; a client that watches longer renews it. */
export const LONGEST_WATCH = 3_600_000;

export const watchSchema = record('Watch', 'Somebody watches the car.', {
  until: required(
    1,
    quantity(
      'ms',
      1,
      [0, 8.64e15],
      'How long somebody watches, UTC since 1970; beyond an hour from now the hour counts.',
    ),
  ),
});
type Watch = Static<typeof watchSchema>;

const bounds = { maximumBytes: 256, maximumDepth: 4, maximumItems: 32 };
const codec = compile(watchSchema);

/** Returns the payload. Throws `message.malformed` for an invalid time. */
export function encodeWatch(watch: Watch): Uint8Array {
  return codec.encode(watch, 0);
}

/** Decodes a payload. Throws `message.malformed`, and `message.unbounded` if it is far too long. */
export function decodeWatch(payload: Uint8Array): Watch {
  checkBounds(payload, bounds);
  return codec.decode(payload, 0);
}
