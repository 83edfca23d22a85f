/**
 * The generic half of the codec, on cbor-x: trees of maps with integer keys, arrays, numbers, texts and byte strings
 * to bytes and back. With these options cbor-x writes the deterministic encoding of RFC 8949 section 4.2.1 (shortest
 * heads, definite lengths, no tags) except for floats, which {@link Wire.float} is about; the order of a map is that
 * of its insertion. The build without code generation is used, so nothing is ever compiled from a string.
 */
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import { VigieError } from '../errors.ts';
import { restoreFloats, shortestFloat } from './float.ts';

const options = { useRecords: false, mapsAsObjects: false, variableMapSize: true, tagUint8Array: false };
const encoder = new Encoder(options);
const decoder = new Decoder(options);

/** Collects what a tree cannot say while it is being built; one for each encoding. */
export class Wire {
  /** The moment that instants are counted back from, UTC milliseconds. */
  readonly base: number;
  /** Names and indices from the root to the member at hand, for errors. */
  readonly path: (string | number)[] = [];
  /** Of every byte string of the tree, in order: whether it stands for a float. */
  readonly #floats: boolean[] = [];
  #anyFloat = false;

  constructor(base: number) {
    this.base = base;
  }

  /** The tree node for an integer; any safe integer. */
  integer(value: number): number | bigint {
    // cbor-x writes numbers beyond 32 bits as floats, big integers always in nine bytes.
    return value > 0xffff_ffff || value < -0x1_0000_0000 ? BigInt(value) : value;
  }

  /** The tree node for a float, written in the shortest exact form. */
  float(value: number): Uint8Array {
    this.#floats.push(true);
    this.#anyFloat = true;
    return shortestFloat(value);
  }

  bytes(value: Uint8Array): Uint8Array {
    this.#floats.push(false);
    return value;
  }

  /** The bytes of a finished tree, in memory of their own. */
  encode(tree: unknown): Uint8Array {
    const encoding = new Uint8Array(encoder.encode(tree));
    if (this.#anyFloat) restoreFloats(encoding, this.#floats);
    return encoding;
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

/** One byte string as a data item. */
export function encodeBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(encoder.encode(bytes));
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
