import { describe, expect, it, test } from 'vitest';
import { negativeResponseMeaning, ObdDecoder } from '../../../adapters/obd/index.ts';
import { raw, setOf, standard, valuesOf } from './sets.ts';

describe('an answer', () => {
  it('is recognised by service, parameter and header', () => {
    const decoder = new ObdDecoder([standard]);
    expect(decoder.decode({ response: '7E8 04 41 0C 1A F8' })).toEqual({
      command: '7E0.7E8.010C',
      values: { RPM: 1726 },
    });
    expect(decoder.decode({ response: '7A8 10 08 62 C0 0B 00 00 00\r7A8 21 00 AF 00' }).values).toEqual({ TIRE: 35 });
  });

  it("of a standard service means the same from each ECU; of a manufacturer's service it belongs to one ECU", () => {
    expect(valuesOf('7E9 03 41 0D 32')).toEqual({ VSS: 50 });
    expect(valuesOf('18 DA F1 10 03 41 0D 32')).toEqual({ VSS: 50 });
    expect(() => valuesOf('7A9 10 08 62 C0 0B 00 00 00\r7A9 21 00 AF 00')).toThrow('is answered by 62C00B00 from 7A9');
  });

  it.each(['010D', '01 0D', '010D1', '7E0.010D', '7E0.7E8.010D', '7DF.010D', '7E0.7E8.010D|f=2016-'])(
    'belongs to the command named %s',
    (command) => {
      expect(new ObdDecoder([standard]).decode({ command, response: '41 0D 32' })).toEqual({
        command,
        values: { VSS: 50 },
      });
    },
  );

  it('to another command than the named one is refused', () => {
    expect(() => valuesOf('41 0C 1A F8', '010D')).toThrow('7E0.7E8.010D is not answered by 410C1AF8');
    expect(() => valuesOf('41 0C 1A F8', '0105')).toThrow('no signal set has the command 0105');
    expect(() => valuesOf('41 0C 1A F8', 'speed')).toThrow('"speed" names no command');
  });

  it('of the addressed ECU takes precedence over those of others', () => {
    expect(valuesOf('7E9 03 41 0D 01\r7E8 03 41 0D 32\r7EA 03 41 0D 02')).toEqual({ VSS: 50 });
  });

  it('has no value at a null bound', () => {
    expect(valuesOf('7E8 03 41 0D FF')).toEqual({});
  });

  it('that is too short is refused; one that is too short for some signals yields the others', () => {
    expect(() => valuesOf('7E8 03 41 0C 1A')).toThrow('7E0.7E8.010C is too short: 1 of at least 2 data bytes');
    const set = setOf({ cmd: { '22': '0001' }, signals: [raw('A'), raw('B', { bix: 8 })] });
    expect(valuesOf('62000105', undefined, set)).toEqual({ A: 5 });
  });

  it('is decoded by the later of two sets with the same command', () => {
    const later = setOf({ rax: '7E8', cmd: { '01': '0D' }, signals: [raw('SPEED', { mul: 2, max: 999 })] });
    expect(valuesOf('7E8 03 41 0D 32', undefined, standard, later)).toEqual({ SPEED: 100 });
  });

  it('is decoded by the variants of all model years, or of a given one', () => {
    const set = setOf(
      { rax: '7E8', cmd: { '21': '01' }, filter: { to: 2018 }, signals: [raw('OLD')] },
      { rax: '7E8', cmd: { '21': '01' }, filter: { from: 2019 }, signals: [raw('NEW', { mul: 2, max: 999 })] },
    );
    const response = '7E8 03 61 01 10';
    expect({ ...new ObdDecoder([set]).decode({ response }).values }).toEqual({ OLD: 16, NEW: 32 });
    expect({ ...new ObdDecoder([set], { modelYear: 2018 }).decode({ response }).values }).toEqual({ OLD: 16 });
    const named = new ObdDecoder([set]).decode({ command: '7E0.7E8.2101|f=2019-', response });
    expect({ ...named.values }).toEqual({ NEW: 32 });
  });
});

describe('extended addressing', () => {
  const tires = { hdr: '750', rax: '758', eax: '2A', cmd: { '21': '30' }, signals: [raw('A'), raw('E', { bix: 32 })] };
  const frames = '7582A10076130010203\r7582A21040500000000';

  it('is recognised from the signal set', () => {
    expect(valuesOf(frames, undefined, setOf(tires))).toEqual({ A: 1, E: 5 });
    expect(valuesOf(frames.replaceAll('2A', 'F1'), undefined, setOf(tires))).toEqual({ A: 1, E: 5 });
  });

  it('is distinguished from normal addressing on the same header', () => {
    const set = setOf(tires, { hdr: '750', rax: '758', cmd: { '21': '31' }, signals: [raw('LAST', { bix: 544 })] });
    expect(valuesOf(frames, undefined, set)).toEqual({ A: 1, E: 5 });
    // With eleven frames, the consecutive frame of index A resembles the address 2A.
    const long = ['7581047613100000000'];
    for (let i = 1; i <= 10; i++) long.push(`758 2${i.toString(16).toUpperCase()} 00 00 00 00 00 00 0${i % 10}`);
    expect(valuesOf([...long].join('\r'), undefined, set)).toEqual({ LAST: 0 });
  });

  it('is recognised from the frames if no signal set has the header', () => {
    expect(valuesOf('660 F1 03 41 0D 32')).toEqual({ VSS: 50 });
  });

  it('keeps ECUs with a common header apart', () => {
    const set = setOf(tires, { ...tires, eax: '2B', cmd: { '21': '40' }, signals: [raw('Z', { bix: 32 })] });
    const text = '7582A10076130010203\r7582B10076140090909\r7582B21080700000000\r7582A21040500000000';
    expect(valuesOf(text, undefined, set)).toEqual({ A: 1, E: 5, Z: 7 });
  });
});

describe('a refusal', () => {
  it('is reported with its meaning', () => {
    expect(() => valuesOf('7E8 03 7F 01 12')).toThrow('7E8: service 01 refused: sub-function not supported (0x12)');
    expect(() => valuesOf('7F 22 31', '22C00B')).toThrow('service 22 refused: request out of range (0x31)');
  });

  it('that only announces the answer is ignored once the answer has come', () => {
    expect(valuesOf('7E8 03 7F 01 78\r7E8 03 7F 01 78\r7E8 03 41 0D 32')).toEqual({ VSS: 50 });
    expect(() => valuesOf('7E8 03 7F 01 78')).toThrow(/response pending \(0x78\), and the answer did not follow/);
    expect(() => valuesOf('7E8 03 7F 01 78\r7E8 03 7F 01 22')).toThrow('conditions not correct (0x22)');
  });

  it('by one ECU does not hide the answer of another', () => {
    expect(valuesOf('7E9 03 7F 01 11\r7E8 03 41 0D 32')).toEqual({ VSS: 50 });
  });

  it('has a meaning for every code', () => {
    expect(negativeResponseMeaning(0x33)).toBe('security access denied');
    expect(negativeResponseMeaning(0xf3)).toMatch(/manufacturer/);
    for (let code = 0; code <= 0xff; code++) expect(negativeResponseMeaning(code)).not.toBe('');
  });
});

describe('a lost frame', () => {
  it('in another ECU’s answer does not affect the requested one', () => {
    const text = '7A8 10 08 62 C0 0B 00 00 00\r7E8 03 41 0D 32';
    expect(valuesOf(text, '7E0.7E8.010D')).toEqual({ VSS: 50 });
    expect(valuesOf(text)).toEqual({ VSS: 50 });
    expect(new ObdDecoder([standard]).decode({ response: text }).incomplete).toEqual([
      '7A8: consecutive frames are missing: 6 of 8 bytes came',
    ]);
  });

  it('of an earlier answer that this one interrupted is ignored', () => {
    expect(valuesOf('7E8 10 14 49 02 01 31 44 34\r7E8 03 41 0D 32')).toEqual({ VSS: 50 });
  });

  it('that the adapter reports invalidates lines of unknown length', () => {
    expect(valuesOf('7E8 03 41 0D 32\rBUFFER FULL')).toEqual({ VSS: 50 });
    expect(() => valuesOf('41 0D 32\rBUFFER FULL')).toThrow('the answer may be cut: BUFFER FULL');
  });
});

describe('a consecutive frame that continues nothing', () => {
  const whole = '7E8 03 41 0D 32';

  test.each([
    ['before the answer', `7E8 21 00 AF 00\r${whole}`],
    ['after the answer', `${whole}\r7E8 21 00 AF 00`],
    ['of another control unit', `7EA 21 00 AF 00\r${whole}`],
  ])('%s is ignored', (_, text) => {
    expect(new ObdDecoder([standard]).decode({ response: text })).toEqual({
      command: '7E0.7E8.010D',
      values: { VSS: 50 },
    });
    expect(valuesOf(text, '010D')).toEqual({ VSS: 50 });
  });

  test('of another control unit does not end a reception in progress', () => {
    expect(valuesOf('7A8 10 08 62 C0 0B 00 00 00\r7E8 22 01 02 03\r7A8 21 00 AF 00')).toEqual({ TIRE: 35 });
  });
});

describe('a wrong sequence number (ISO 15765-2, N_WRONG_SN)', () => {
  test('ends only the reception that it belongs to, not the response of another control unit', () => {
    expect(valuesOf('7A8 10 08 62 C0 0B 00 00 00\r7A8 22 00 AF 00\r7E8 03 41 0D 32')).toEqual({ VSS: 50 });
  });

  test('does not spoil a later response of the same control unit', () => {
    const cut = '7A8 10 08 62 C0 0B 00 00 00\r7A8 22 00 AF 00';
    expect(valuesOf(`${cut}\r7A8 10 08 62 C0 0B 00 00 00\r7A8 21 00 AF 00`)).toEqual({ TIRE: 35 });
  });
});

describe('two copies of a response', () => {
  const first = '7A8 10 08 62 C0 0B 00 00 00';
  const last = '7A8 21 00 AF 00';

  test.each([
    ['of which the first lacks its end', [first, first, last]],
    ['of which the second lacks its end', [first, last, first]],
    ['of which one has a wrong sequence number', [first, '7A8 22 00 AF 00', first, last]],
    ['whose frames alternate', [first, first, last, last]],
  ])('%s yield the values of the complete one', (_, lines) => {
    expect(new ObdDecoder([standard]).decode({ response: lines.join('\r') })).toEqual({
      command: '7A0.7A8.22C00B',
      values: { TIRE: 35 },
    });
  });

  test('with alternating frames are read after an announcement, which is repeated as well', () => {
    const pending = '7A8 03 7F 22 78';
    expect(valuesOf([pending, first, pending, first, last, last].join('\r'))).toEqual({ TIRE: 35 });
  });

  test('with different bytes are two responses: no value is a mix of both', () => {
    const begin = '7E8 10 14 49 02 01 31 44 34';
    const lines = [
      begin,
      '7E8 21 30 30 30 30 30 30 30',
      begin,
      '7E8 21 47 50 30 30 52 35 35',
      '7E8 22 42 31 32 33 34 35 36',
    ];
    expect(valuesOf(lines.join('\r'))).toEqual({ VIN: '1D4GP00R55B123456' });
  });
});
