/**
 * Receiver's side of the protocol, for Node and browsers: `vigie/protocol`. Converts the messages of a car, packed or
 * not, to objects with names and units. Uses no Node API.
 */
import { type RawFrame, rawFrames } from './captures/readable.ts';
import { decodeMessage } from './cbor/message.ts';
import { VigieError } from './errors.ts';
import { type ReadableBody, readableBody } from './readable.ts';
import type { SchemaNode } from './schema/fields.ts';
import { type BodyKind, bodies, type Envelope, type Message } from './schema/message.ts';
import { partAt } from './schema/walk.ts';
import { Catalogs } from './signals/catalog.ts';

export type { RawFrame } from './captures/readable.ts';
export { decodeMessage, encodeMessage, messageBounds } from './cbor/message.ts';
export { type ErrorCode, errors, VigieError } from './errors.ts';
export type { StatusPaths } from './generated/status-paths.ts';
export type { ReadableBody, ReadableTelemetry } from './readable.ts';
export type { Body, Envelope, Kind, Message } from './schema/message.ts';
export { kinds, PROTOCOL_VERSION } from './schema/message.ts';
export { readingsFromTelemetry, type Telemetry, type TelemetryJson } from './schema/telemetry.ts';
export { Catalogs } from './signals/catalog.ts';
export { type Slot, slotByPath, slots } from './slots.ts';
export { signedCommandCddl, vigieCddl } from './vigie-cddl.ts';

/** Like {@link ReadableBody}, with the frames of captures. */
export type DecodedBody<K extends BodyKind = BodyKind> = K extends 'capture'
  ? Omit<ReadableBody<'capture'>, 'bytes'> & { readonly rawFrames: readonly RawFrame[] }
  : ReadableBody<K>;

/** A message with names and units: a union by `kind`. */
export type DecodedMessage<K extends BodyKind = BodyKind> = {
  [B in K]: Envelope & {
    readonly kind: B;
    readonly body: DecodedBody<B>;
    /**
     * Units of the numbers of `body` by their path in it, such as `status.kinetic.speed`; `[]` means the entries of a
     * list, `[0]` the first coordinate of a position. Times have no unit: they are UTC ms. Each series has its own.
     */
    readonly units: Readonly<Record<string, string>>;
  };
}[K];

/** Decodes the messages of one car, and stores its catalogs, which define its custom signals. */
export class CarDecoder {
  readonly #catalogs = new Catalogs();

  /**
   * Decodes a message, in any order; custom signals have numbers instead of names until their catalog arrives.
   * @throws VigieError `message.malformed` if it is not a message of this version, `message.unbounded` beyond
   * `messageBounds`
   */
  decode(payload: Uint8Array): DecodedMessage {
    return decode(payload, this.#catalogs);
  }
}

/** Decodes one message with the `catalogs` received before. For custom signals, use one {@link CarDecoder} per car. */
export function decode(payload: Uint8Array, catalogs: Catalogs = new Catalogs()): DecodedMessage {
  if (!ArrayBuffer.isView(payload)) {
    throw new VigieError('usage.wrong', 'the payload must be bytes (Uint8Array): pass it as the broker delivers it');
  }
  const message = decodeMessage(payload);
  const body = decodedBody(message, catalogs);
  const units: Record<string, string> = {};
  collect(bodies[message.kind] as SchemaNode, body, '', units);
  return { ...message, body, units } as DecodedMessage;
}

function decodedBody(message: Message, catalogs: Catalogs): DecodedBody {
  const readable = readableBody(message, catalogs);
  if (message.kind !== 'capture') return readable as DecodedBody;
  const { bytes: _, ...capture } = readable as ReadableBody<'capture'>;
  return { ...capture, rawFrames: rawFrames(message.body) };
}

/** Adds to `units` the unit of every number of `value`, which matches `schema`. */
function collect(schema: SchemaNode | undefined, value: unknown, path: string, units: Record<string, string>): void {
  if (schema === undefined) return;
  if (typeof value === 'number') {
    const unit = schema['x-instant'] === true ? undefined : schema['x-unit'];
    if (unit !== undefined && unit !== '1') units[path] = unit;
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const list = Array.isArray(value);
  const tuple = schema.prefixItems !== undefined;
  for (const [key, member] of Object.entries(value)) {
    const place = list ? `${path}[${tuple ? key : ''}]` : path === '' ? key : `${path}.${key}`;
    collect(partAt(schema, value, key), member, place, units);
  }
}
