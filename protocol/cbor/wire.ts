/**
 * Generic half of the codec, on cbor-x: trees of maps with integer keys, arrays, numbers, text and byte strings.
 * item-writer.ts writes messages, because cbor-x has no shortest floats and no integers of 33 to 53 bits. This uses the
 * build without code generation, so nothing is ever compiled from a string.
 */
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import { VigieError } from '../errors.ts';

const options = { useRecords: false, mapsAsObjects: false, variableMapSize: true, tagUint8Array: false };
const encoder = new Encoder(options);
const decoder = new Decoder(options);

/** Shared state of all nodes of one message; each encoding or decoding has its own. */
export class Wire {
  /** Base of relative instants, UTC milliseconds. */
  readonly base: number;
  /** Names and indices from the root to the current member, for errors. */
  readonly path: (string | number)[] = [];

  constructor(base: number) {
    this.base = base;
  }

  /** Returns the error for a value that breaks the rule of its schema. */
  fault(rule: string): VigieError {
    return new VigieError('message.malformed', `${formatPath(this.path)} ${rule}`);
  }
}

/** Formats a path as `energies[0].level`; the root is `message`. */
function formatPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text === '' ? 'message' : text;
}

/** Returns the bytes, in separate memory, of a tree without floats and integers beyond 32 bits. */
export function encodeTree(tree: unknown): Uint8Array {
  return new Uint8Array(encoder.encode(tree));
}

/**
 * Returns the tree of one data item: maps as `Map`, integers as number or (beyond 32 bits) bigint. Ignores the
 * schema, and is unsafe for untrusted bytes unless their bounds were checked. Throws `message.malformed`.
 */
export function parse(bytes: Uint8Array): unknown {
  try {
    // A separate view: cbor-x leaves a property on the array that it reads.
    return decoder.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (cause) {
    throw new VigieError('message.malformed', `not one CBOR data item: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the number of an integer or float node of a tree; undefined for anything else or beyond 2^53. */
export function numberOf(node: unknown): number | undefined {
  if (typeof node === 'number') return node;
  if (typeof node !== 'bigint') return undefined;
  const value = Number(node);
  return Number.isSafeInteger(value) ? value : undefined;
}
