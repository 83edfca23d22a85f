import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  calibrationIdentifications,
  calibrationVerificationNumbers,
  ecuName,
  supportedParameters,
  vehicleIdentificationNumber,
} from '../../../adapters/obd/index.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const text = (ascii: string) => Buffer.from(ascii, 'latin1').toString('hex');

describe('vehicle information', () => {
  it('contains the VIN in one answer on CAN, and in five on earlier buses', () => {
    const vin = '1D4GP00R55B123456';
    expect(vehicleIdentificationNumber([bytes(`490201${text(vin)}`)])).toBe(vin);
    const padded = `000000${text(vin)}`;
    const parts = [0, 1, 2, 3, 4].map((i) => bytes(`49020${i + 1}${padded.slice(8 * i, 8 * i + 8)}`));
    expect(vehicleIdentificationNumber(parts)).toBe(vin);
    expect(() => vehicleIdentificationNumber(parts.toSpliced(2, 1))).toThrow('message 3 is missing');
    expect(() => vehicleIdentificationNumber(parts.slice(0, 4))).toThrow('messages are missing');
  });

  it('excludes text that is not a VIN', () => {
    expect(() => vehicleIdentificationNumber([bytes(`490201${text('1D4GP00R55B12345I')}`)])).toThrow(
      'is not a vehicle',
    );
    expect(() => vehicleIdentificationNumber([bytes(`490201${text('1D4GP')}`)])).toThrow('5 of 17 bytes');
    expect(() => vehicleIdentificationNumber([bytes('490401')])).toThrow('not an answer to service 09 02');
    expect(() => vehicleIdentificationNumber([])).toThrow('no answer');
  });

  it('contains calibrations and names', () => {
    const ids = `${text('JMB*36761500')}00000000${text('JMB*476214150000')}`;
    expect(calibrationIdentifications([bytes(`490402${ids}`)])).toEqual(['JMB*36761500', 'JMB*476214150000']);
    expect(calibrationVerificationNumbers([bytes('490602 1791BC82 16E062BE')])).toEqual(['1791BC82', '16E062BE']);
    expect(calibrationVerificationNumbers([bytes('490601 1791BC82')])).toEqual(['1791BC82']);
    expect(ecuName([bytes(`490A01${text('ECM')}00${text('-EngineControl')}0000`)])).toBe('ECM-EngineControl');
  });
});

describe('supported parameters', () => {
  it('are the bits after the requested one', () => {
    expect(supportedParameters(bytes('41 00 80 00 00 01'))).toEqual([0x01, 0x20]);
    expect(supportedParameters(bytes('41 20 80 00 00 00 40 40 00 00 00'))).toEqual([0x21, 0x42]);
    expect(supportedParameters(bytes('49 00 55 40 00 00'))).toEqual([2, 4, 6, 8, 10]);
  });

  it('are as many as there are bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7 }), fc.uint8Array({ minLength: 4, maxLength: 4 }), (group, map) => {
        const found = supportedParameters(Uint8Array.of(0x41, group * 32, ...map));
        const rebuilt = new Uint8Array(4);
        for (const pid of found) rebuilt[(pid - group * 32 - 1) >> 3]! |= 0x80 >> ((pid - 1) & 7);
        expect(rebuilt).toEqual(map);
      }),
    );
  });

  it('are not read from other answers', () => {
    expect(() => supportedParameters(bytes('41 0D 32 00 00 00'))).toThrow('0D asks for no bitmap');
    expect(() => supportedParameters(bytes('41 00 80'))).toThrow('not a bitmap of parameters');
  });
});
