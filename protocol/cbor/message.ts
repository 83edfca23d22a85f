/**
 * Whole messages: the envelope's map with the body as one of its entries. Instants in the body are relative to the
 * envelope's `at`, so a decoder reads the envelope first.
 */
import { type Deflate, portableDeflate } from '../columns/deflate.ts';
import { NumberReader } from '../columns/numbers.ts';
import { columnsOfRows, rowsOfColumns } from '../columns/rows.ts';
import { VigieError } from '../errors.ts';
import type { TSchema } from '../schema/fields.ts';
import {
  BODY_KEY,
  type BodyKind,
  bodies,
  type Envelope,
  envelopeSchema,
  type Kind,
  kinds,
  type Message,
  messageSchema,
  PROTOCOL_VERSION,
  wireSchema,
} from '../schema/message.ts';
import { type Waypoint, waypointSchema } from '../schema/waypoint.ts';
import { annotated } from './annotations.ts';
import { type Bounds, checkBounds } from './bounds.ts';
import { type Codec, compile } from './codec.ts';
import { ItemCursor, UNUSUAL } from './item-cursor.ts';
import { pack, unpack, unpackParts } from './packing.ts';
import { type QuickReader, quickReader } from './quick.ts';
import { type ColumnsReader, columnsReader } from './quick-columns.ts';
import { parse, Wire } from './wire.ts';

/** Bounds for a receiver. An item has at least one byte, so the limit on bytes also limits the items. */
export const messageBounds: Bounds = { maximumBytes: 1 << 20, maximumDepth: 16, maximumItems: 1 << 20 };

type Tree = ReadonlyMap<unknown, unknown>;

/** Keys of the body of a `waypoint` message (protocol/schema/waypoint.ts). */
const POINTS_KEY = 1;
const COLUMNS_KEY = 2;

/** Members of a point that columns represent as 0 and 1. */
const pointFlags: readonly number[] = flagsOf(waypointSchema);

/** Created when the first message of a kind is read: a car hardly ever reads any. */
const quickReaders = new Map<BodyKind, QuickReader>();
let pointsReader: ColumnsReader | undefined;
const envelopeCodec = compile(envelopeSchema);
/** Created when the first message of a kind is written or decoded plainly: one run of a car sends only few kinds. */
const codecs = new Map<Kind, Codec<unknown>>();
/** Codec for messages on the wire. Only waypoints have a separate form. */
let waypointWireCodec: Codec<unknown> | undefined;

/** A message whose body has not yet been checked against its kind; the codec checks that. */
type UncheckedMessage = Envelope & { readonly body: object };

/**
 * Returns the payload of a message (RFC 8949 section 4.2.1), in the shortest of its possible forms. Throws
 * `message.malformed`, naming the member and the rule, if the envelope or the body does not match the schema of the
 * kind, and `message.unbounded` if it is longer than receivers accept.
 */
export function encodeMessage(message: UncheckedMessage, deflate: Deflate = portableDeflate): Uint8Array {
  checkVersion(message.version);
  let payload = codecOf(message.kind).encode(message, message.at);
  if (message.kind === 'waypoint') payload = shorter(payload, withColumns(message, payload));
  // Columns are already compressed.
  if (message.kind !== 'telemetry' && message.kind !== 'capture') payload = shorter(payload, pack(payload, deflate));
  if (payload.length <= messageBounds.maximumBytes) return payload;
  const limit = `at most ${messageBounds.maximumBytes} allowed; send it in parts`;
  throw new VigieError('message.unbounded', `a ${message.kind} message of ${payload.length} bytes, ${limit}`);
}

function flagsOf(schema: TSchema): number[] {
  const node = annotated(schema);
  return node.kind === 'record' ? node.members.filter((one) => one.schema.kind === 'flag').map(({ key }) => key) : [];
}

function shorter(payload: Uint8Array, other: Uint8Array | undefined): Uint8Array {
  return other !== undefined && other.length < payload.length ? other : payload;
}

/** Returns the message with the points of its route as columns, or undefined if they have no such form. */
function withColumns(message: UncheckedMessage, payload: Uint8Array): Uint8Array | undefined {
  const body = (parse(payload) as Tree).get(BODY_KEY) as Tree;
  const columns = columnsOfRows((body.get(POINTS_KEY) as readonly Tree[]).map(flagsAsNumbers));
  if (columns === undefined) return undefined;
  waypointWireCodec ??= compile(wireSchema('waypoint')) as Codec<unknown>;
  return waypointWireCodec.encode({ ...message, body: { columns } }, message.at);
}

function flagsAsNumbers(point: Tree): Tree {
  return new Map([...point].map(([key, value]) => [key, typeof value === 'boolean' ? Number(value) : value]));
}

/**
 * Decodes a message. Omits fields and values that a later version may have added. Throws
 * `message.unbounded` beyond {@link messageBounds}, and `message.malformed` if it is not a message of this version.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  return decodeQuickly(bytes) ?? decodePlainly(bytes);
}

/** Decodes a message in the form of {@link encodeMessage}; undefined if {@link decodePlainly} must decode it. */
export function decodeQuickly(bytes: Uint8Array): Message | undefined {
  if (bytes.length > messageBounds.maximumBytes) return undefined;
  try {
    const parts = unpackParts(bytes);
    const cursor = new ItemCursor(parts ?? bytes, parts !== undefined);
    const [, kind, , , at] = firstMembers(cursor);
    const reader = quickReaderOf(kinds[kind as number]);
    cursor.rewind();
    const message = reader?.(cursor, new Wire(at as number)) as Message | undefined;
    cursor.end();
    if (message?.version !== PROTOCOL_VERSION) return undefined;
    return message.kind === 'waypoint' ? withPoints(message, new Wire(message.at)) : message;
  } catch (cause) {
    if (cause instanceof VigieError) return undefined;
    throw cause;
  }
}

function quickReaderOf(kind: BodyKind | undefined): QuickReader | undefined {
  if (kind === undefined) return undefined;
  const reader = quickReaders.get(kind) ?? quickReader(wireSchema(kind));
  quickReaders.set(kind, reader);
  return reader;
}

/** Returns the message with the points of its columns, if it was sent with columns. */
function withPoints(message: Message<'waypoint'>, wire: Wire): Message | undefined {
  const { points, columns } = message.body as { readonly points?: unknown; readonly columns?: Uint8Array };
  if (columns === undefined) return points === undefined ? undefined : message;
  pointsReader ??= columnsReader(waypointSchema);
  return { ...message, body: { points: pointsReader(columns, wire) as Waypoint[] } };
}

/** Returns version, kind, seq, boot and at. */
function firstMembers(cursor: ItemCursor): readonly number[] {
  cursor.map();
  return [1, 2, 3, 4, 5].map((key) => {
    if (cursor.key() !== key) throw UNUSUAL;
    return cursor.integer();
  });
}

/** Does the same as {@link decodeMessage} step by step. This is the reference for valid messages. */
export function decodePlainly(bytes: Uint8Array): Message {
  checkBounds(bytes, messageBounds);
  const message = unpack(bytes);
  if (message !== bytes) checkBounds(message, messageBounds);
  const tree = parse(message);
  const { version, kind, at } = envelopeCodec.fromTree(tree, new Wire(0));
  checkVersion(version);
  const codec = codecOf(kind);
  if (kind === 'waypoint') spreadColumns((tree as Tree).get(BODY_KEY));
  return codec.fromTree(tree, new Wire(at)) as Message;
}

/** Converts the points in columns to a list of points. */
function spreadColumns(body: unknown): void {
  if (!(body instanceof Map)) return;
  const columns: unknown = body.get(COLUMNS_KEY);
  if (!(columns instanceof Uint8Array)) return;
  const points: Map<number, unknown>[] = rowsOfColumns(new NumberReader(columns));
  for (const point of points) {
    for (const key of pointFlags) if (point.has(key)) point.set(key, point.get(key) === 1);
  }
  body.set(POINTS_KEY, points);
}

function checkVersion(version: number): void {
  if (version === PROTOCOL_VERSION) return;
  throw new VigieError('message.malformed', `version must be ${PROTOCOL_VERSION}, is ${version}`);
}

function codecOf(kind: Kind): Codec<unknown> {
  let codec = codecs.get(kind);
  if (codec !== undefined) return codec;
  if (!Object.hasOwn(bodies, kind)) {
    const known = Object.keys(bodies).join(', ');
    throw new VigieError('message.malformed', `kind must be one of ${known}, is ${kind}`);
  }
  codec = compile(messageSchema(kind)) as Codec<unknown>;
  codecs.set(kind, codec);
  return codec;
}
