/**
 * Detects the byte order of identifiers in captured packets. Each link type defines an order, but some tools use that
 * of their machine. The right order is the one with more valid identifiers.
 */
import { ERROR, EXTENDED } from '../../../agent/ports.ts';
import { type LogParser, Recording } from './recording.ts';

/** Highest identifier of 11 bits. Classes of error messages (linux/can/error.h) have no more bits either. */
const MAX_STANDARD = 0x7ff;
const IDENTIFIER = 0x1fff_ffff;

export class IdentifierOrder {
  readonly #little: boolean;
  /** Number of identifiers possible in the other order, minus those possible in the order of the link type. */
  #others = 0;

  /** @param little the order of the link type, which applies if both are equally possible */
  constructor(little: boolean) {
    this.#little = little;
  }

  /** Adds the identifier at `at` to the evidence, and returns it with its flags. */
  read(view: DataView, at: number): number {
    const expected = view.getUint32(at, this.#little);
    const other = view.getUint32(at, !this.#little);
    this.#others += Number(isPossible(other)) - Number(isPossible(expected));
    return this.#others > 0 ? other : expected;
  }
}

/** Returns true if the bits of an identifier are consistent with its flags. */
export function isPossible(raw: number): boolean {
  if ((raw & EXTENDED) !== 0) return (raw & ERROR) === 0;
  return (raw & IDENTIFIER) <= MAX_STANDARD;
}

/**
 * Reads ahead with a parser that shares its detected orders, so that the first frames are read like the others.
 * @param create returns a parser for a recording. The frames of that recording are discarded
 */
export function readAhead(
  create: (scratch: Recording) => LogParser,
  bytes: Uint8Array,
  from: number,
  end: number,
): void {
  const scratch = new Recording('');
  const parser = create(scratch);
  for (let at = from; ; ) {
    const next = parser.parse(bytes, at, end, false);
    if (next === at && !scratch.full) return;
    scratch.batch.count = 0;
    at = next;
  }
}
