/** A parser that must accept any input without a defect. */
export interface FuzzTarget {
  /** Name on the command line: lower case, words joined by hyphens. */
  readonly name: string;
  /**
   * Returns small inputs that the parser accepts, from which other inputs are made. Must return the same inputs at
   * every call.
   */
  seeds(): Iterable<Uint8Array>;
  /** Words of the format in addition to those that occur in the seeds. */
  readonly words?: readonly string[];
  /**
   * Corrects checksums and lengths, so that the parser does not reject mutated inputs early. Used for every second
   * input. Must not throw.
   */
  mend?(input: Uint8Array): Uint8Array;
  /**
   * Runs the parser on an input. Returns true if the input contained anything readable. Returns false, or throws a
   * VigieError, if the parser refused it. Any other exception is a defect.
   */
  run(input: Uint8Array): boolean | Promise<boolean>;
}

/** A defect that a target has detected, such as a result that contradicts another one. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction';
}

const encoder = new TextEncoder();

/** Returns the bytes of strings, for {@link FuzzTarget.seeds}. */
export function texts(...list: readonly string[]): Uint8Array[] {
  return list.map((text) => encoder.encode(text));
}

/** Decodes each byte to one character, for parsers that read lines of text. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
