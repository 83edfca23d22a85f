import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTroubleCodes, readUdsTroubleCodes, troubleCode } from '../../../adapters/obd/index.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('a trouble code', () => {
  it.each([
    ['0301', 'P0301', 'powertrain', 'standard'],
    ['1234', 'P1234', 'powertrain', 'manufacturer'],
    ['2A00', 'P2A00', 'powertrain', 'standard'],
    ['33FF', 'P33FF', 'powertrain', 'manufacturer'],
    ['3400', 'P3400', 'powertrain', 'standard'],
    ['4035', 'C0035', 'chassis', 'standard'],
    ['6123', 'C2123', 'chassis', 'manufacturer'],
    ['9ABC', 'B1ABC', 'body', 'manufacturer'],
    ['C100', 'U0100', 'network', 'standard'],
    ['FFFF', 'U3FFF', 'network', 'reserved'],
  ])('%s is %s', (hex, code, system, definedBy) => {
    const [high = 0, low = 0] = bytes(hex);
    expect(troubleCode(high, low)).toMatchObject({ code, system, definedBy });
  });

  it('has a group if it concerns the powertrain', () => {
    expect(troubleCode(0x03, 0x01).group).toBe('ignition system or misfire');
    expect(troubleCode(0x0a, 0x80).group).toBe('hybrid propulsion');
    expect(troubleCode(0xc1, 0x00).group).toBeUndefined();
  });

  it('survives formatting and parsing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }), (high, low) => {
        const { code } = troubleCode(high, low);
        expect(code).toMatch(/^[PCBU][0-3][0-9A-F]{3}$/);
        const letter = 'PCBU'.indexOf(code.slice(0, 1));
        expect((letter << 14) | Number.parseInt(code.slice(1), 16)).toBe((high << 8) | low);
      }),
    );
  });
});

describe('answers with trouble codes', () => {
  it.each([
    ['43 02 03 01 C1 00', 'confirmed', ['P0301', 'U0100']],
    ['47 01 01 33', 'pending', ['P0133']],
    ['4A 00', 'permanent', []],
    ['43 01 33 00 00 00 00', 'confirmed', ['P0133']],
    ['43 01 33 03 01 40 35', 'confirmed', ['P0133', 'P0301', 'C0035']],
    ['43', 'confirmed', []],
  ])('%s', (hex, store, codes) => {
    const read = readTroubleCodes(bytes(hex));
    expect(read.store).toBe(store);
    expect(read.codes.map(({ code }) => code)).toEqual(codes);
  });

  it('that are truncated or unrelated are refused', () => {
    expect(() => readTroubleCodes(bytes('43 03 03 01 C1 00'))).toThrow('counts 3 trouble codes and holds 2');
    expect(() => readTroubleCodes(bytes('41 0D 32'))).toThrow('410D32 is not an answer to service 03');
    expect(() => readTroubleCodes(bytes(''))).toThrow('nothing is not an answer');
  });

  it('of UDS have failure type and status', () => {
    const { available, codes } = readUdsTroubleCodes(bytes('59 02 CB 03 01 1C 09 C1 00 00 80'));
    expect(available).toEqual([
      'testFailed',
      'testFailedThisOperationCycle',
      'confirmedDTC',
      'testNotCompletedThisOperationCycle',
      'warningIndicatorRequested',
    ]);
    expect(codes).toMatchObject([
      { code: 'P0301-1C', failureType: 0x1c, system: 'powertrain', status: ['testFailed', 'confirmedDTC'] },
      { code: 'U0100-00', failureType: 0, system: 'network', status: ['warningIndicatorRequested'] },
    ]);
    expect(readUdsTroubleCodes(bytes('59 02 FF')).codes).toEqual([]);
    expect(() => readUdsTroubleCodes(bytes('59 02 FF 03 01'))).toThrow('2 of 4 bytes');
    expect(() => readUdsTroubleCodes(bytes('59 01 FF'))).toThrow('not an answer to service 19 02');
  });
});
