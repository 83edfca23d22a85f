/**
 * Whole messages: the envelope's map with the body as one of its members. The instants of the body are counted back
 * from the envelope's `at`, so a decoder reads the envelope first.
 */
import { VigieError } from '../errors.ts';
import {
  type BodyKind,
  bodies,
  type Envelope,
  envelopeSchema,
  hasBody,
  type Kind,
  type Message,
  messageSchema,
  PROTOCOL_VERSION,
} from '../schema/message.ts';
import { type Bounds, checkBounds } from './bounds.ts';
import { type Codec, compile } from './codec.ts';
import { parse, Wire } from './wire.ts';

/** What a receiver takes at most; an item is a byte at least, so the bytes bound the items too. */
export const messageBounds: Bounds = { maximumBytes: 1 << 20, maximumDepth: 16, maximumItems: 1 << 20 };

const envelopeCodec = compile(envelopeSchema);
const codecs = new Map(
  (Object.keys(bodies) as BodyKind[]).map((kind) => [kind, compile(messageSchema(kind)) as Codec<unknown>]),
);

/** A message before the type of its body is known to belong to its kind; the codec checks that. */
export type UncheckedMessage = Envelope & { readonly body: object };

/**
 * The payload of a message, deterministic (RFC 8949 section 4.2.1). Throws `message.malformed`, naming the member and
 * the rule, when the envelope or the body is not what the kind's schema says, and `message.unbounded` when it is longer
 * than receivers take.
 */
export function encodeMessage(message: UncheckedMessage): Uint8Array {
  checkVersion(message.version);
  const payload = codecOf(message.kind).encode(message, message.at);
  if (payload.length <= messageBounds.maximumBytes) return payload;
  const limit = `at most ${messageBounds.maximumBytes} allowed; send it in parts`;
  throw new VigieError('message.unbounded', `a ${message.kind} message of ${payload.length} bytes, ${limit}`);
}

/**
 * The message that `bytes` carry. Members and values that a later version may have added are left out. Throws
 * `message.unbounded` beyond {@link messageBounds} and `message.malformed` for what is not a message of this version.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  checkBounds(bytes, messageBounds);
  const tree = parse(bytes);
  const { version, kind, at } = envelopeCodec.fromTree(tree, new Wire(0));
  checkVersion(version);
  return codecOf(kind).fromTree(tree, new Wire(at)) as Message;
}

function checkVersion(version: number): void {
  if (version === PROTOCOL_VERSION) return;
  throw new VigieError('message.malformed', `version must be ${PROTOCOL_VERSION}, is ${version}`);
}

function codecOf(kind: Kind): Codec<unknown> {
  const codec = hasBody(kind) ? codecs.get(kind) : undefined;
  if (codec !== undefined) return codec;
  throw new VigieError('message.malformed', `kind must be one of ${[...codecs.keys()].join(', ')}, is ${kind}`);
}
