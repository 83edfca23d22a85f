/** Schema of profile commands that are sent as diagnostic requests (ISO 14229-1). */

import type { Static } from 'typebox';
import * as Type from 'typebox';
import { choice, closed, duration, line, NAME, truth } from './fields.ts';

const LONGEST_29 = 0x1fff_ffff;

const whole = (description: string, maximum: number) =>
  Type.Unsafe<number>({
    type: 'integer',
    minimum: 0,
    maximum,
    description,
    'x-expected': 'a whole number such as 0x7E0',
  });

/** Quotes prevent YAML from parsing a value such as 01 as a number. */
const hex = (description: string) =>
  line(description, {
    pattern: '^([0-9A-Fa-f]{2}){1,256}$',
    expected: 'pairs of hexadecimal digits in quotes, such as "01FF"',
  });

/** Fields that address a control unit. */
const addressed = {
  bus: Type.Optional(line('Logical bus', { pattern: NAME, expected: 'the name of a bus of the profile' })),
  request: whole('CAN identifier of the request; above 0x7FF it has 29 bits', LONGEST_29),
  response: Type.Optional(whole('CAN identifier of the answer; default: the usual one', LONGEST_29)),
  flowControl: Type.Optional(whole('CAN identifier of our flow control; default: the usual one', LONGEST_29)),
  target: Type.Optional(whole('Address in the first byte of requests (extended addressing)', 0xff)),
  source: Type.Optional(whole('Address in the first byte of the answer (extended addressing)', 0xff)),
};

export const controlUnitSchema = closed('A control unit whose fault codes are read by UDS', {
  name: Type.Optional(line('Name for people, such as Battery')),
  ...addressed,
  statusMask: Type.Optional(
    Type.Unsafe<number>({
      ...whole('Bits of statusOfDTC of which a code must have one; default 0x0D', 0xff),
      minimum: 1,
    }),
  ),
});

export const udsSchema = closed('Requests to a control unit by diagnostics', {
  ...addressed,
  session: Type.Optional(whole('Diagnostic session: 0x03, 0x04 or 0x40 to 0x7E', 0x7e)),
  security: Type.Optional(
    closed('The control unit must be unlocked first', {
      level: whole('requestSeed, an odd number', 0x7d),
      key: line('Method or program that computes the key', { pattern: NAME, expected: 'a name such as xor' }),
      constant: Type.Optional(hex('Constant of the computation')),
    }),
  ),
  io: Type.Optional(
    closed('An output is controlled (service 2F)', {
      identifier: whole('Data identifier', 0xffff),
      control: choice(['resetToDefault', 'freezeCurrentState', 'shortTermAdjustment'], 'Use of the output'),
      state: Type.Optional(hex('State and mask, with shortTermAdjustment')),
    }),
  ),
  routine: Type.Optional(
    closed('A routine is started (service 31)', {
      identifier: whole('Routine identifier', 0xffff),
      option: Type.Optional(hex('Bytes of the start request')),
      results: Type.Optional(hex('First bytes of the expected results; without it the agent does not request results')),
    }),
  ),
  hold: Type.Optional(duration('Time for which the agent holds control, or lets the routine run')),
  release: Type.Optional(truth('Control is returned, or the routine stopped, after `hold`; default true')),
});

export type UdsInput = Static<typeof udsSchema>;
export type ControlUnitInput = Static<typeof controlUnitSchema>;
