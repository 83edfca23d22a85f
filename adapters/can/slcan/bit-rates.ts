/** Commands that set the bit rates. */
import { VigieError } from '../../../protocol/errors.ts';

/**
 * Firmware dialects. `lawicel` is the original and most clones. `canable` has a silent mode instead of a listen-only
 * command, does not answer, and supports CAN FD.
 */
export type Dialect = 'lawicel' | 'canable';

/** Bit rates in bit/s of S0 to S6 and S8. They are the same in all dialects. */
const agreed = [
  [10_000, 'S0'],
  [20_000, 'S1'],
  [50_000, 'S2'],
  [100_000, 'S3'],
  [125_000, 'S4'],
  [250_000, 'S5'],
  [500_000, 'S6'],
  [1_000_000, 'S8'],
] as const;
const nominal: Readonly<Record<Dialect, ReadonlyMap<number, string>>> = {
  lawicel: new Map([...agreed, [800_000, 'S7']]),
  canable: new Map([...agreed, [750_000, 'S7'], [83_333, 'S9']]),
};
const data: ReadonlyMap<number, string> = new Map([
  [1_000_000, 'Y1'],
  [2_000_000, 'Y2'],
  [4_000_000, 'Y4'],
  [5_000_000, 'Y5'],
]);

export interface Rates {
  /** Bit rate in bit/s for which the adapter has a code. */
  readonly bitRate?: number;
  /** Alternative to `bitRate`: registers BTR0 and BTR1 of an SJA1000 at 16 MHz, 4 hexadecimal digits, e.g. `011C`. */
  readonly timing?: string;
  /** Bit rate in bit/s of the data phase of CAN FD. */
  readonly dataBitRate?: number;
}

/** Throws `configuration.wrong` if no dialect supports these rates. */
export function checkRates({ bitRate, timing, dataBitRate }: Rates, where: string): void {
  if ((bitRate === undefined) === (timing === undefined))
    throw wrong('give either a bit rate or timing registers', where);
  if (timing !== undefined && !/^[0-9a-f]{4}$/i.test(timing)) {
    throw wrong(`${JSON.stringify(timing)} are not timing registers: write four hexadecimal digits`, where);
  }
  if (bitRate !== undefined && !Object.values(nominal).some((codes) => codes.has(bitRate))) {
    const known = [...new Set(Object.values(nominal).flatMap((codes) => [...codes.keys()]))].sort((a, b) => a - b);
    throw wrong(`no adapter has a bit rate of ${bitRate}; known are ${known.join(', ')}`, where);
  }
  if (dataBitRate !== undefined && !data.has(dataBitRate)) {
    throw wrong(`no adapter has a data bit rate of ${dataBitRate}; known are ${[...data.keys()].join(', ')}`, where);
  }
}

/** Returns the commands that set the rates, or undefined if this dialect does not support them. */
export function rateCommands({ bitRate, timing, dataBitRate }: Rates, dialect: Dialect): readonly string[] | undefined {
  const first =
    bitRate === undefined ? (dialect === 'lawicel' ? `s${timing}` : undefined) : nominal[dialect].get(bitRate);
  const second = dataBitRate === undefined ? undefined : data.get(dataBitRate);
  if (first === undefined) return undefined;
  return second === undefined ? [first] : [first, second];
}

function wrong(message: string, where: string): VigieError {
  return new VigieError('configuration.wrong', message, { where });
}
