/** Diagnosis of the car with the signal sets in the profile: `vigie/obd`. */

import { obdProtocols } from '../../config/configuration-schema.ts';
import type { ObdInput } from '../../config/inputs.ts';
import { defined } from '../../protocol/defined.ts';
import { BUS_RULE, checkFields, checkValue, isText, type OptionRule } from './checks.ts';
import type { ObdDescription } from './source.ts';

export type { ObdDescription };

export interface AdapterOptions {
  /** Protocol that the car uses. Default: the adapter detects it. */
  readonly protocol?: Extract<ObdInput, { kind: 'elm327' }>['protocol'];
}

const ADDRESS_RULE: OptionRule = [isText, 'the address of an adapter, such as /dev/rfcomm0 or tcp://host:port'];
const PROTOCOL_RULE: OptionRule = [
  (value) => (obdProtocols as readonly unknown[]).includes(value),
  `one of ${obdProtocols.join(', ')}`,
];

/** An ELM327 or STN adapter: a line `/dev/rfcomm0` (needs the package `serialport`) or `tcp://host:port`. */
export function elm327(address: string, options: AdapterOptions = {}): ObdDescription {
  checkValue(address, ADDRESS_RULE, 'elm327');
  checkFields(options, { protocol: PROTOCOL_RULE }, 'elm327');
  const { protocol } = options;
  return { obd: { kind: 'elm327', address, ...defined({ protocol }) } };
}

/** Requests over a CAN input (ISO 15765-2). @param over name of the input's bus; default: the only CAN input */
export function isotp(over?: string): ObdDescription {
  if (over !== undefined) checkValue(over, BUS_RULE, 'isotp');
  return { obd: { kind: 'isotp', over } };
}
