import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLineAddress } from '../../../adapters/lines/index.ts';
import { VigieError } from '../../../protocol/errors.ts';

describe('addresses of lines', () => {
  it.each([
    ['/dev/ttyUSB0', { kind: 'serial', path: '/dev/ttyUSB0', baudRate: 9_600, flowControl: 'none' }],
    ['serial:/dev/ttyACM0', { kind: 'serial', path: '/dev/ttyACM0', baudRate: 9_600, flowControl: 'none' }],
    [
      'serial:/dev/serial/by-id/usb-x?baud=38400&flow=rtscts',
      { kind: 'serial', path: '/dev/serial/by-id/usb-x', baudRate: 38_400, flowControl: 'rtscts' },
    ],
    ['/dev/ttyS1?baud=4800', { kind: 'serial', path: '/dev/ttyS1', baudRate: 4_800, flowControl: 'none' }],
    ['tcp://localhost:2947', { kind: 'tcp', host: 'localhost', port: 2947 }],
    ['tcp://10.0.0.2:23/', { kind: 'tcp', host: '10.0.0.2', port: 23 }],
    ['tcp://[fe80::1%eth0]:2947', { kind: 'tcp', host: 'fe80::1%eth0', port: 2947 }],
    ['file:/run/nmea', { kind: 'file', path: '/run/nmea' }],
    ['/run/nmea', { kind: 'file', path: '/run/nmea' }],
  ])('%s', (text, address) => {
    expect(readLineAddress(text, 9_600)).toEqual(address);
  });

  it.each([
    ['', /there is no path; write \/dev/],
    ['ttyUSB0', /the path does not begin with \//],
    ['serial:ttyUSB0', /the device does not begin with \//],
    ['serial:', /there is no device/],
    ['serial:/dev/ttyUSB0?baud=fast', /baud is "fast"; write a whole number from 50 to 12000000/],
    ['serial:/dev/ttyUSB0?baud=10', /baud is "10"/],
    ['serial:/dev/ttyUSB0?flow=yes', /flow is "yes"; write none, rtscts, xonxoff/],
    ['serial:/dev/ttyUSB0?parity=even', /"parity" is not a setting/],
    ['tcp://localhost', /the port is missing/],
    ['tcp://localhost:99999', /the port is 99999/],
    ['tcp://localhost:0', /the port is 0/],
    ['tcp://::1:2947', /an IPv6 address in brackets/],
    ['tcp:localhost:2947', /write tcp:\/\/host:port/],
    ['http://localhost:80', /http is not a kind of line/],
  ])('%s is refused with a suggestion', (text, message) => {
    const read = () => readLineAddress(text, 9_600, 'vigie.yaml:12');
    expect(read).toThrow(message);
    expect(read).toThrow(/^vigie\.yaml:12: /);
    expect(read).toThrow(expect.objectContaining({ code: 'configuration.wrong' }));
  });

  it('any text is either a valid address or refused', () => {
    const part = fc.constantFrom(
      'tcp://',
      'serial:',
      '/dev/',
      'file:',
      '?',
      'baud=',
      '&',
      ':',
      '[',
      ']',
      '1',
      'x',
      '%',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (written) => {
        try {
          const address = readLineAddress(written, 9_600);
          if (address.kind === 'tcp') expect(address.port).toBeGreaterThan(0);
          else expect(address.path).toMatch(/^\//);
          if (address.kind === 'serial') expect(address.baudRate).toBeGreaterThanOrEqual(50);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
    );
  });
});
