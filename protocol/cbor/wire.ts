/**
 * The generic half of the codec, on cbor-x: trees of maps with integer keys, arrays, numbers, texts and byte strings.
 * Messages are written without it (item-writer.ts): it has no shortest floats and no integers of 33 to 53 bits. The
 * build without code generation is used, so nothing is ever compiled from a string.
 */
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import { VigieError } from '../errors.ts';

const options = { useRecords: false, mapsAsObjects: false, variableMapSize: true, tagUint8Array: false };
const encoder = new Encoder(options);
const decoder = new Decoder(options);

/** Shared state of all nodes of one message: one for each encoding or decoding. */
export class Wire {
  /** Base of relative instants, UTC milliseconds. */
  readonly base: number;
  /** Names and indices from the root to the member at hand, for errors. */
  readonly path: (string | number)[] = [];

  constructor(base: number) {
    this.base = base;
  }

  /** The error for a value that breaks its schema's rule. */
  fault(rule: string): VigieError {
    return new VigieError('message.malformed', `${formatPath(this.path)} ${rule}`);
  }
}

/** `energies[0].level`; the root is `message`. */
function formatPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text === '' ? 'message' : text;
}

/** The bytes of a tree without floats and integers beyond 32 bits, in memory of their own. */
export function encodeTree(tree: unknown): Uint8Array {
  return new Uint8Array(encoder.encode(tree));
}

/**
 * The tree of one data item: maps as `Map`, integers as number or (beyond 32 bits) bigint. Does not look at the
 * schema and is not for bytes from strangers unless their bounds were checked. Throws `message.malformed`.
 */
export function parse(bytes: Uint8Array): unknown {
  try {
    // A view of our own: cbor-x leaves a property on the array that it reads.
    return decoder.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (cause) {
    throw new VigieError('message.malformed', `not one CBOR data item: ${(cause as Error).message}`, { cause });
  }
}

/** The number that a tree's integer or float node stands for; undefined for anything else or beyond 2^53. */
export function numberOf(node: unknown): number | undefined {
  if (typeof node === 'number') return node;
  if (typeof node !== 'bigint') return undefined;
  const value = Number(node);
  return Number.isSafeInteger(value) ? value : undefined;
}
