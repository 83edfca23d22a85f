import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { CLASSIC, DEFAULT_PADDING } from './control.ts';

/** Times and bounds of the transport (ISO 15765-2:2016 §9.7, §9.8) and of answers (ISO 15765-4 §6.4, ISO 14229-2 §7.2). */
export interface IsoTpSettings {
  /** Until the bus has taken a frame (N_As, N_Ar), ms. */
  readonly sending: number;
  /** Until flow control comes after a first frame or block (N_Bs), ms. */
  readonly flowControl: number;
  /** Until the next consecutive frame comes (N_Cr), ms. */
  readonly consecutive: number;
  /** Flow controls in a row that may say WAIT (N_WFTmax). */
  readonly waits: number;
  /** Frames between two flow controls that we ask for, 0..255; 0: all in one go. */
  readonly blockSize: number;
  /** Time between frames that we ask for (STmin), 0..127 ms. */
  readonly separation: number;
  /** Until the first answer to a request (P2), ms, where the request says nothing. */
  readonly answer: number;
  /** Until the answer that was announced with "response pending" (P2*), ms. */
  readonly pending: number;
  /** Most time that a control unit may go on announcing, ms. */
  readonly longestPending: number;
  /** Longest message either way, bytes; a longer one is refused with OVERFLOW. */
  readonly longest: number;
  /** Byte that fills frames up to 8 bytes, 0..255; undefined sends them as short as they are. */
  readonly padding: number | undefined;
  /** Bytes of a frame: 8 on classic CAN; 12, 16, 20, 24, 32, 48 or 64 with CAN FD. */
  readonly frameLength: number;
  /** CAN FD frames change to the faster bit rate. */
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

/** How the parts of the transport reach the bus and the time. */
export interface IsotpWire {
  readonly clock: Clock;
  readonly settings: IsoTpSettings;
  /** Puts a frame on the bus; `data` begins with the control information. */
  send(data: Uint8Array): Promise<void>;
  /** Bytes that the address takes in each frame. */
  readonly address: 0 | 1;
}

/** Bytes of a frame behind the address. */
export function room(wire: IsotpWire): number {
  return wire.settings.frameLength - wire.address;
}

/**
 * Sends, and waits no longer than N_As for the bus to take it.
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new VigieError('input.unreadable', `the bus did not take a frame: ${reason}`, { cause });
  } finally {
    cancel?.();
  }
}
