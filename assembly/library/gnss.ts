/** Satellite receivers: `vigie/gnss`. */
import { checkFields, checkValue, isText, type OptionRule, SWITCH_RULE } from './checks.ts';
import type { GnssDescription } from './source.ts';

export type { GnssDescription };

export interface ReceiverOptions {
  /** If true, the receiver's time sets the agent's clock; default true. */
  readonly clock?: boolean;
}

const ADDRESS_RULE: OptionRule = [isText, 'an address, such as /dev/ttyUSB1 or tcp://host:port'];

/** A receiver of NMEA 0183, UBX or SiRF: a line `/dev/ttyUSB1` (needs `serialport`), `tcp://host:port`, or a file. */
export function receiver(address: string, options: ReceiverOptions = {}): GnssDescription {
  return { gnss: { kind: 'nmea', address, clock: setsClock('receiver', address, options) } };
}

/** The gpsd daemon; default: the one on this machine. */
export function gpsd(address = 'tcp://127.0.0.1:2947', options: ReceiverOptions = {}): GnssDescription {
  return { gnss: { kind: 'gpsd', address, clock: setsClock('gpsd', address, options) } };
}

/** @throws VigieError `usage.wrong` for an unknown or invalid argument */
function setsClock(of: string, address: string, options: ReceiverOptions): boolean {
  checkValue(address, ADDRESS_RULE, of);
  checkFields(options, { clock: SWITCH_RULE }, of);
  return options.clock ?? true;
}
