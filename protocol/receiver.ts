/**
 * The receiver's side of the protocol, for Node and browsers alike: `vigie/protocol`. Turns what a car publishes into
 * objects with names and units, packed or not. Uses no Node API.
 */
import { decodeMessage } from './cbor/message.ts';
import { type ReadableBody, readableBody } from './readable.ts';
import type { SchemaNode } from './schema/fields.ts';
import { type BodyKind, bodies, type Envelope } from './schema/message.ts';
import type { TelemetryJson } from './schema/telemetry.ts';
import { partAt } from './schema/walk.ts';
import { Catalogs } from './signals/catalog.ts';
import { slotByPath } from './slots.ts';

export { decodeMessage, encodeMessage, messageBounds } from './cbor/message.ts';
export { type ErrorCode, errors, VigieError } from './errors.ts';
export type { StatusPaths } from './generated/status-paths.ts';
export type { ReadableBody } from './readable.ts';
export type { Body, Envelope, Kind, Message } from './schema/message.ts';
export { kinds, PROTOCOL_VERSION } from './schema/message.ts';
export { readingsFromTelemetry, type Telemetry, type TelemetryJson } from './schema/telemetry.ts';
export { Catalogs } from './signals/catalog.ts';
export { type Slot, slotByPath, slots } from './slots.ts';
export { vigieCddl } from './vigie-cddl.ts';

/** Readings of one value over time. */
export interface UnitSeries extends Series {
  /** Absent: the value has none, or this version does not know it. */
  readonly unit?: string;
}

type Series = TelemetryJson['series'][number];

/** As {@link ReadableBody}, with the units of series. */
export type DecodedBody<K extends BodyKind = BodyKind> = K extends 'telemetry'
  ? { readonly series: readonly UnitSeries[] } & Omit<ReadableBody<'telemetry'>, 'series'>
  : K extends 'collision'
    ? Omit<ReadableBody<'collision'>, 'readings'> & { readonly readings?: { readonly series: readonly UnitSeries[] } }
    : ReadableBody<K>;

/** A message with names and units: a union by `kind`. */
export type DecodedMessage<K extends BodyKind = BodyKind> = {
  [B in K]: Envelope & {
    readonly kind: B;
    readonly body: DecodedBody<B>;
    /**
     * Units of the numbers of `body` by their path in it, such as `status.kinetic.speed`; `[]` stands for the entries of
     * a list. Times have none: they are UTC milliseconds.
     */
    readonly units: Readonly<Record<string, string>>;
  };
}[K];

/** Decodes the messages of one car: it remembers the catalogs, which say what its custom signals are. */
export class CarDecoder {
  readonly #catalogs = new Catalogs();

  /**
   * Takes a message in any order; custom signals have numbers in place of names until their catalog has come.
   * @throws VigieError `message.malformed` for what is not a message of this version, `message.unbounded` beyond
   * `messageBounds`
   */
  decode(payload: Uint8Array): DecodedMessage {
    return decode(payload, this.#catalogs);
  }
}

/** One message; `catalogs` are those that came before. For custom signals use a {@link CarDecoder} for each car. */
export function decode(payload: Uint8Array, catalogs: Catalogs = new Catalogs()): DecodedMessage {
  const message = decodeMessage(payload);
  const body = withUnits(readableBody(message, catalogs));
  const units: Record<string, string> = {};
  collect(bodies[message.kind] as SchemaNode, body, '', units);
  return { ...message, body, units } as DecodedMessage;
}

function withUnits(body: ReadableBody): DecodedBody {
  if ('series' in body) return { ...body, series: body.series.map(seriesWithUnit) };
  if (!('readings' in body) || body.readings === undefined) return body as DecodedBody;
  return { ...body, readings: { series: body.readings.series.map(seriesWithUnit) } };
}

function seriesWithUnit({ path, ...series }: Series): UnitSeries {
  const unit = slotByPath.get(path)?.unit;
  return { path, ...(unit === undefined || unit === '1' ? {} : { unit }), ...series };
}

/** The unit of every number of `value`, which follows `schema`, into `units`. */
function collect(schema: SchemaNode | undefined, value: unknown, path: string, units: Record<string, string>): void {
  if (schema === undefined) return;
  if (typeof value === 'number') {
    const unit = schema['x-instant'] === true ? undefined : schema['x-unit'];
    if (unit !== undefined && unit !== '1') units[path] = unit;
    return;
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  const list = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    const place = list ? `${path}[]` : path === '' ? key : `${path}.${key}`;
    collect(partAt(schema, value, key), member, place, units);
  }
}
