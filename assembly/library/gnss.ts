/** Satellite receivers: `vigie/gnss`. */
import type { GnssDescription } from './source.ts';

export type { GnssDescription };

export interface ReceiverOptions {
  /** Whether the receiver's time sets the clock of the agent; default true. */
  readonly clock?: boolean;
}

/** A receiver of NMEA 0183, UBX or SiRF on a line: `/dev/ttyUSB1` (needs `serialport`), `tcp://host:port` or a file. */
export function receiver(address: string, { clock = true }: ReceiverOptions = {}): GnssDescription {
  return { gnss: { kind: 'nmea', address, clock } };
}

/** The daemon gpsd; default: that of this machine. */
export function gpsd(address = 'tcp://127.0.0.1:2947', { clock = true }: ReceiverOptions = {}): GnssDescription {
  return { gnss: { kind: 'gpsd', address, clock } };
}
