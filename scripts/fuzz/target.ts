/** A parser that may be given anything. */
export interface FuzzTarget {
  /** For the command line: lower case, words joined by hyphens. */
  readonly name: string;
  /** Inputs that the parser accepts, small; what is tried is made of them. Equal at every call. */
  seeds(): Iterable<Uint8Array>;
  /** Words of the format, in addition to those in the seeds. */
  readonly words?: readonly string[];
  /**
   * Makes checksums and lengths right again, so that what was changed comes past them; used for every other input.
   * Throws nothing.
   */
  mend?(input: Uint8Array): Uint8Array;
  /**
   * Gives the parser an input. True when there was something in it that could be read; false, or a VigieError, when
   * it was refused. Anything else that is thrown is a defect.
   */
  run(input: Uint8Array): boolean | Promise<boolean>;
}

/** A defect that a target found itself, such as a result that contradicts another. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction';
}

const encoder = new TextEncoder();

/** Bytes of texts, for {@link FuzzTarget.seeds}. */
export function texts(...list: readonly string[]): Uint8Array[] {
  return list.map((text) => encoder.encode(text));
}

/** One character a byte, for parsers that take text from a line. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
