/**
 * The byte order of identifiers in captured packets. Each link type has one, but some tools write that of their machine: the
 * order in which more identifiers are possible is the right one.
 */
import { ERROR, EXTENDED } from '../../../agent/ports.ts';
import { type LogParser, Recording } from './recording.ts';

/** Highest identifier of 11 bits; classes of error messages (linux/can/error.h) have no more bits. */
const MAX_STANDARD = 0x7ff;
const IDENTIFIER = 0x1fff_ffff;

export class IdentifierOrder {
  readonly #little: boolean;
  /** Identifiers that are possible in the other order, less those in the order of the link type. */
  #others = 0;

  /** @param little the order of the link type, which decides where both are possible */
  constructor(little: boolean) {
    this.#little = little;
  }

  /** Adds the identifier at `at` to the evidence; returns it with its flags. */
  read(view: DataView, at: number): number {
    const expected = view.getUint32(at, this.#little);
    const other = view.getUint32(at, !this.#little);
    this.#others += Number(isPossible(other)) - Number(isPossible(expected));
    return this.#others > 0 ? other : expected;
  }
}

/** Whether the bits that an identifier has fit the flags in front of it. */
export function isPossible(raw: number): boolean {
  if ((raw & EXTENDED) !== 0) return (raw & ERROR) === 0;
  return (raw & IDENTIFIER) <= MAX_STANDARD;
}

/**
 * Reads ahead with a parser that shares its orders, so that the first frames are read like the others.
 * @param create makes the parser of a recording whose frames are discarded
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
