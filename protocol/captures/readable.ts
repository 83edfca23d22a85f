/** Frames of captures as objects. */
import { hex } from '../hex.ts';
import type { Capture } from '../schema/capture.ts';
import { unpackFrames } from './capture.ts';

/** A frame of the bus. */
export interface RawFrame {
  /** UTC milliseconds with fraction, exact to the microsecond. */
  readonly at: number;
  readonly bus: string;
  readonly id: number;
  /** Payload in hexadecimal; empty for a remote frame. */
  readonly data: string;
  /** True if the identifier has 29 bits. */
  readonly extended?: true;
  readonly remote?: true;
  readonly error?: true;
  /** Flags of CAN FD. */
  readonly fd?: true;
  readonly bitRateSwitch?: true;
  readonly errorState?: true;
  /** True if the unit itself sent the frame. */
  readonly sent?: true;
}

/** Bits of the identifier as in SocketCAN, and bits of the flags (docs/wire-format.md, "Captures"). */
const idBits = { extended: 0x8000_0000, remote: 0x4000_0000, error: 0x2000_0000 } as const;
const flagBits = { fd: 1, bitRateSwitch: 2, errorState: 4, sent: 8 } as const;
const ID = 0x1fff_ffff;

/**
 * Returns the frames of a part, in the order of arrival.
 * @throws VigieError `message.malformed` for columns that cannot be read
 */
export function rawFrames(part: Pick<Capture, 'start' | 'size' | 'columns' | 'buses'>): RawFrame[] {
  const { count, at, id, bus, flags, length, offset, data } = unpackFrames(part);
  return Array.from({ length: count }, (_, index) => {
    const [begin, bits] = [offset[index]!, id[index]!];
    const bytes = (bits & idBits.remote) === 0 ? data.subarray(begin, begin + length[index]!) : new Uint8Array(0);
    return {
      at: at[index]!,
      bus: part.buses[bus[index]!] ?? `#${bus[index]}`,
      id: bits & ID,
      data: hex(bytes),
      ...namesOf(idBits, bits),
      ...namesOf(flagBits, flags[index]!),
    };
  });
}

function namesOf<N extends string>(bits: Readonly<Record<N, number>>, value: number): { readonly [B in N]?: true } {
  const set = Object.entries<number>(bits).filter(([, bit]) => (value & bit) !== 0);
  return Object.fromEntries(set.map(([name]) => [name, true])) as { readonly [B in N]?: true };
}
