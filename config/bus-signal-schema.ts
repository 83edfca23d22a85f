/** Fields that describe a bus signal in a profile, the same for Status paths and for custom signals. */
import * as Type from 'typebox';
import { duration, line, listOf, number } from './fields.ts';

/** `Message.Signal`; names in real DBC files are not always C identifiers. */
export const SIGNAL = '^[^.\\s]+\\.[^.\\s]+$';
/** Raw values are whole numbers, in decimal or hexadecimal. */
export const RAW = '^(-?(0|[1-9][0-9]{0,15})|0x[0-9A-Fa-f]{1,13})$';
/** Completes "must be …" for a key that is a raw value. */
export const RAW_EXPECTED = 'a raw value: a whole number, such as 3 or 0x0F';

export const word = (description: string) =>
  line(description, { pattern: '^[^\\s\\u0000-\\u001f]{1,128}$', expected: 'a name without blanks' });

export const bus = Type.Optional(word('Logical bus; may be left out when the profile has only one'));

export const conversion = {
  scale: Type.Optional(number('value = physical signal × scale + offset; default 1')),
  offset: Type.Optional(number('value = physical signal × scale + offset; default 0')),
  invalid: Type.Optional(
    listOf(
      Type.Unsafe<number>({ type: 'number', 'x-expected': 'a number' }),
      1,
      'Raw values (before the scaling of the DBC) that mean "not available"; they never become values',
    ),
  ),
};

export const timeout = Type.Optional(duration('Silence after which the value is stale; default: never'));
