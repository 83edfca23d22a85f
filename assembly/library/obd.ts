/** Diagnostics of the car by the signal sets of the profile: `vigie/obd`. */

import type { ObdInput } from '../../config/inputs.ts';
import { defined } from '../../protocol/defined.ts';
import type { ObdDescription } from './source.ts';

export type { ObdDescription };

export interface AdapterOptions {
  /** Protocol of the car. Default: the adapter detects it. */
  readonly protocol?: Extract<ObdInput, { kind: 'elm327' }>['protocol'];
}

/** An ELM327 or STN adapter on a line: `/dev/rfcomm0` (needs the package `serialport`) or `tcp://host:port`. */
export function elm327(address: string, { protocol }: AdapterOptions = {}): ObdDescription {
  return { obd: { kind: 'elm327', address, ...defined({ protocol }) } };
}

/** Requests over a CAN input (ISO 15765-2). @param over name of its bus; default: the only CAN input */
export function isotp(over?: string): ObdDescription {
  return { obd: { kind: 'isotp', over } };
}
