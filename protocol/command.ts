/**
 * Commands to the car: a CBOR map of the command, signed as COSE_Sign1 (cose.ts). The body is a separately encoded byte
 * string, so that a command of an unknown kind can still be verified, and refused by name.
 */
import { type Bounds, checkBounds } from './cbor/bounds.ts';
import { type Codec, compile } from './cbor/codec.ts';
import { decodeSigned, type SignedMessage } from './cose.ts';
import { VigieError } from './errors.ts';
import { remoteBodies } from './remote/table.ts';
import { count } from './schema/count.ts';
import { bytes, enumeration, quantity, record, required, type Static, text } from './schema/fields.ts';
import { orderBodies } from './schema/order.ts';
import { commandKinds } from './schema/remote.ts';

/** Largest command that a car accepts, including its signature. */
export const commandBounds: Bounds = { maximumBytes: 64 * 1024, maximumDepth: 16, maximumItems: 4096 };

const moment = (description: string) => quantity('ms', 1, [0, 8.64e15], description);

export const commandSchema = record('Command', 'A command to the car, the payload of a COSE_Sign1.', {
  id: required(1, text('Chosen by the sender, e.g. a UUID (RFC 9562).', { maxLength: 64, pattern: '^[!-~]+$' })),
  vin: required(2, text('The car that it is for. ISO 3779.', { maxLength: 17, pattern: '^[A-HJ-NPR-Z0-9]{17}$' })),
  kind: required(3, enumeration('What to do. Interface 3.19.2 RemoteType, and ours.', commandKinds)),
  body: required(4, bytes('How to do it: CBOR of the schema of the kind.', { maxLength: 60_000 })),
  issued: required(5, moment('When it was given, UTC since 1970.')),
  expires: required(6, moment('When it must no longer be carried out, UTC since 1970.')),
  counter: required(
    7,
    count('Grows from command to command of one key, against replay.', { maximum: Number.MAX_SAFE_INTEGER }),
  ),
});
export type Command = Static<typeof commandSchema>;

/** A parsed but unverified command: do not trust its content before `signature` has been verified. */
export interface OpenedCommand {
  readonly command: Command;
  /** Id of the key that allegedly signed it. */
  readonly keyId: Uint8Array;
  /** COSE algorithm: -7 or -8. */
  readonly algorithm: number;
  readonly signature: Uint8Array;
  readonly toBeSigned: Uint8Array;
}

// A partially understood command would be executed incorrectly.
const codec = compile(commandSchema, { unknownValues: 'refuse' });

/** Returns the payload to sign. Throws `command.malformed` naming the member and the rule. */
export function encodeCommand(command: Command): Uint8Array {
  return asCommand(() => {
    checkTimes(command);
    return codec.encode(command, 0);
  });
}

/**
 * Parses a signed command after checking that it is within {@link commandBounds}, including its body. Throws
 * `command.malformed` if it is not a command; does not verify the signature.
 */
export function openCommand(message: Uint8Array): OpenedCommand {
  return asCommand(() => {
    const { payload, keyId, algorithm, signature, toBeSigned }: SignedMessage = decodeSigned(message, commandBounds);
    checkBounds(payload, commandBounds);
    const command = codec.decode(payload, 0);
    checkBounds(command.body, commandBounds);
    checkTimes(command);
    return { command, keyId, algorithm, signature, toBeSigned };
  });
}

/** Bodies of commands, by kind. */
export const commandBodies = { ...remoteBodies, ...orderBodies } as const;

/** Kinds of command whose body has a schema. */
export type CommandBodyKind = keyof typeof commandBodies;
export type CommandBody<K extends CommandBodyKind> = Static<(typeof commandBodies)[K]>;

const bodyCodecs = new Map<string, Codec<unknown>>(
  Object.entries(commandBodies).map(([kind, schema]) => [kind, compile(schema, { unknownValues: 'refuse' })]),
);

/** Encodes the body of a command. Throws `command.malformed` if it does not match the schema of the kind. */
export function encodeBody(kind: CommandBodyKind, body: object): Uint8Array {
  return asCommand(() => bodyCodec(kind).encode(body, 0));
}

/** Decodes the body of a command. Throws `command.malformed`. */
export function decodeBody<K extends CommandBodyKind>(kind: K, body: Uint8Array): CommandBody<K> {
  return asCommand(() => {
    checkBounds(body, commandBounds);
    return bodyCodec(kind).decode(body, 0) as CommandBody<K>;
  });
}

function bodyCodec(kind: string): Codec<unknown> {
  const found = bodyCodecs.get(kind);
  if (found !== undefined) return found;
  throw new VigieError('command.unsupported', `commands of kind ${kind} have no body`);
}

function checkTimes({ issued, expires }: Command): void {
  if (expires > issued) return;
  throw new VigieError('message.malformed', `expires must be after issued (${issued}), is ${expires}`);
}

/** Converts `message.*` errors to `command.malformed`, which determines the answer to the sender. */
function asCommand<T>(step: () => T): T {
  try {
    return step();
  } catch (cause) {
    if (!(cause instanceof VigieError) || !cause.code.startsWith('message.')) throw cause;
    throw new VigieError('command.malformed', `not a command: ${cause.message}`, { cause });
  }
}
