import type { Clock } from '../../../agent/ports.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import { CLASSIC, DEFAULT_PADDING } from './control.ts';

/** Limits of the transport (ISO 15765-2:2016 §9.7, §9.8) and of answers (ISO 15765-4 §6.4, ISO 14229-2 §7.2). */
export interface IsoTpSettings {
  /** Maximum time in ms until the bus has sent a frame (N_As, N_Ar). */
  readonly sending: number;
  /** Maximum time in ms until flow control after a first frame or block (N_Bs). */
  readonly flowControl: number;
  /** Maximum time in ms until the next consecutive frame (N_Cr). */
  readonly consecutive: number;
  /** Maximum number of consecutive WAIT flow controls (N_WFTmax). */
  readonly waits: number;
  /** Requested number of frames between two flow controls, 0..255; 0: no further flow control. */
  readonly blockSize: number;
  /** Requested time between frames (STmin), 0..127 ms. */
  readonly separation: number;
  /** Maximum time in ms until the first answer to a request (P2), unless the request contains one. */
  readonly answer: number;
  /** Maximum time in ms until the answer that "response pending" announced (P2*). */
  readonly pending: number;
  /** Maximum time in ms for which a control unit may repeat "response pending". */
  readonly longestPending: number;
  /** Longest message in bytes in either direction; a longer one is refused with OVERFLOW. */
  readonly longest: number;
  /** Byte that pads frames to 8 bytes, 0..255; if undefined, frames are sent without padding. */
  readonly padding: number | undefined;
  /** Bytes of a frame: 8 on classic CAN; 12, 16, 20, 24, 32, 48 or 64 with CAN FD. */
  readonly frameLength: number;
  /** True if CAN FD frames switch to the faster bit rate. */
  readonly bitRateSwitch: boolean;
}

export const defaultSettings: IsoTpSettings = {
  sending: 1000,
  flowControl: 1000,
  consecutive: 1000,
  waits: 10,
  blockSize: 0,
  separation: 0,
  answer: 200,
  pending: 5000,
  longestPending: 60_000,
  longest: 65_535,
  padding: DEFAULT_PADDING,
  frameLength: CLASSIC,
  bitRateSwitch: false,
};

/** Access of the transport's parts to the bus and the clock. */
export interface IsotpWire {
  readonly clock: Clock;
  readonly settings: IsoTpSettings;
  /** Sends a frame to the bus; `data` begins with the control information. */
  send(data: Uint8Array): Promise<void>;
  /** Number of address bytes in each frame. */
  readonly address: 0 | 1;
}

/** Returns the number of bytes of a frame after the address. */
export function room(wire: IsotpWire): number {
  return wire.settings.frameLength - wire.address;
}

/**
 * Sends a frame and waits at most N_As until the bus has sent it.
 * @throws VigieError `input.unreadable`
 */
export async function sendInTime(wire: IsotpWire, data: Uint8Array): Promise<void> {
  const { clock, settings } = wire;
  let cancel: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(settings.sending, () =>
      reject(new VigieError('input.unreadable', `the bus took no frame for ${settings.sending} ms`)),
    );
  });
  try {
    await Promise.race([wire.send(data), late]);
  } catch (cause) {
    if (cause instanceof VigieError) throw cause;
    const reason = reasonOf(cause);
    throw new VigieError('input.unreadable', `the bus did not take a frame: ${reason}`, { cause });
  } finally {
    cancel?.();
  }
}
