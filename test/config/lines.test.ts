/** Formats of line addresses: `vigie check` must accept exactly those that can be opened. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLineAddress } from '../../adapters/lines/index.ts';
import { addressFault } from '../../config/lines.ts';
import { VigieError } from '../../protocol/errors.ts';

/** Returns whether the code that opens lines accepts the address. */
function opens(text: string): boolean {
  try {
    readLineAddress(text, 9600);
    return true;
  } catch (error) {
    if (error instanceof VigieError) return false;
    throw error;
  }
}

describe('addresses of lines', () => {
  test.each([
    ['ttyUSB0', 'the path does not begin with /'],
    ['', 'the path does not begin with /'],
    ['COM3', 'the path does not begin with /'],
    ['usb:1', 'usb is not a kind of line'],
    ['serial:ttyUSB0', 'the device does not begin with /'],
    ['serial:/dev/ttyUSB0?baud=fast', 'baud is "fast"'],
    ['serial:/dev/ttyUSB0?baud=20', 'baud is "20"'],
    ['/dev/ttyUSB0?flow=yes', 'flow is "yes"'],
    ['/dev/ttyUSB0?parity=even', 'a serial line has no setting "parity"'],
    ['tcp://localhost', 'the port is missing'],
    ['tcp://localhost:0', 'the port is 0'],
    ['tcp://localhost:70000', 'the port is 70000'],
    ['tcp:localhost:35000', 'this is not a TCP address'],
  ])('%s: %s', (text, message) => {
    const fault = addressFault(text);
    expect(fault?.message).toBe(message);
    expect(fault?.fix).not.toBe('');
    expect(opens(text)).toBe(false);
  });

  test.each([
    '/dev/ttyUSB0',
    '/dev/serial/by-id/usb-u-blox_7-if00',
    'serial:/dev/ttyUSB0?baud=38400&flow=rtscts',
    'tcp://[::1]:2947',
    'tcp://adapter.local:35000/',
    'file:/run/nmea',
    '/run/nmea',
  ])('%s is valid', (text) => {
    expect(addressFault(text)).toBeUndefined();
    expect(opens(text)).toBe(true);
  });

  const pieces = fc.constantFrom(
    'tcp:',
    '//',
    'serial:',
    'file:',
    '/dev/',
    'ttyUSB0',
    '?',
    '&',
    '=',
    'baud',
    'flow',
    'xonxoff',
    '38400',
    '[',
    ']',
    '::1',
    '%',
    ':',
    'host',
    '2947',
    '/',
    '.',
    ' ',
    '@',
    '#',
    '70000',
    'usb',
  );
  const addresses = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
  );

  test('have a fault exactly if they cannot be opened', () => {
    fc.assert(
      fc.property(addresses, (text) => {
        expect(addressFault(text) === undefined).toBe(opens(text));
      }),
      { numRuns: 20_000 },
    );
  });
});
