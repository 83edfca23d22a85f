import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  calibrationIdentifications,
  ObdDecoder,
  parseSignalSet,
  readTroubleCodes,
  readUdsTroubleCodes,
  supportedParameters,
  vehicleIdentificationNumber,
} from '../../../adapters/obd/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { raw, setOf, standard } from './sets.ts';

/** Runs the action, which may fail only with a VigieError. */
function orVigieError<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    expect(error.message).not.toBe('');
    return undefined;
  }
}

const extended = setOf({ hdr: '750', rax: '758', eax: '2A', cmd: { '21': '30' }, signals: [raw('A', { bix: 32 })] });
const decoder = new ObdDecoder([standard, extended]);

const real = fc.constantFrom(
  '7E8 03 41 0D 32\r\r>',
  '7E804410C1AF8',
  '18 DA F1 10 03 41 0D 32',
  'SEARCHING...\r41 0D 32\r\r>',
  '014\r0: 49 02 01 31 44 34\r1: 47 50 30 30 52 35 35\r2: 42 31 32 33 34 35 36',
  '7E8 10 14 49 02 01 31 44 34\r7E8 21 47 50 30 30 52 35 35\r7E8 22 42 31 32 33 34 35 36',
  '7582A10076130999A9D\r7582A219C0000000000',
  '7E8 03 7F 01 78\r7E8 03 41 0D 32',
  '48 6B 10 41 0D 32 43',
);
const word = fc.constantFrom(
  '\r',
  '\n',
  ' ',
  '>',
  ':',
  '0:',
  '7E8',
  '10',
  '21',
  'F',
  '\0',
  '?',
  'NO DATA',
  '<RX ERROR',
  '…',
);
const mutated = fc
  .tuple(real, fc.array(fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 4 }), word), { maxLength: 5 }))
  .map(([text, edits]) =>
    edits.reduce<string>((now, [at, cut, put]) => now.slice(0, at) + put + now.slice(at + cut), text),
  );
const adapterText = fc
  .array(fc.oneof(word, fc.stringMatching(/^[0-9A-F]{0,20}$/)), { maxLength: 30 })
  .map((a) => a.join(''));

describe('any output of an adapter', () => {
  it.each([
    ['mutated answers', mutated],
    ['words of adapters', adapterText],
    ['any text', fc.string({ unit: 'binary', maxLength: 200 })],
  ])('%s are decoded or refused', (_, texts) => {
    fc.assert(
      fc.property(
        texts,
        fc.option(fc.constantFrom('010D', '0902', '750.758.2130|e=2A'), { nil: undefined }),
        (response, command) => {
          const decoded = orVigieError(() =>
            decoder.decode(command === undefined ? { response } : { command, response }),
          );
          for (const value of Object.values(decoded?.values ?? {}))
            expect(['number', 'string']).toContain(typeof value);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('a dropped or repeated consecutive frame never yields a value', () => {
    const frames = ['7E81014490201314434', '7E82147503030523535', '7E82242313233343536'];
    fc.assert(
      fc.property(fc.nat({ max: 2 }), fc.boolean(), (at, doubled) => {
        const lines = doubled && at === 1 ? frames.toSpliced(at, 0, frames[at] as string) : frames.toSpliced(at, 1);
        expect(orVigieError(() => decoder.decode({ response: lines.join('\r') }))).toBeUndefined();
      }),
    );
  });

  it('any command name is found or refused', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (command) => {
        orVigieError(() => decoder.decode({ command, response: '41 0D 32' }));
      }),
    );
  });

  it('a megabyte of it ends in an error before the test times out', () => {
    const flood = '7E8 10 FF 49 02 01 31 44 34\r'.repeat(40_000);
    expect(() => decoder.decode({ response: flood })).toThrow(VigieError);
    expect(() => decoder.decode({ response: 'SEARCHING'.repeat(100_000) })).toThrow(VigieError);
    expect(() => decoder.decode({ response: 'BUS INIT'.repeat(100_000) })).toThrow(VigieError);
    expect(() => decoder.decode({ response: ' '.repeat(1_000_000) })).toThrow(VigieError);
    expect(() => decoder.decode({ response: `0:${' '.repeat(500_000)}x` })).toThrow(VigieError);
  });
});

describe('any contents of a signal set', () => {
  const names = [
    'commands',
    'hdr',
    'rax',
    'eax',
    'cmd',
    '22',
    'signals',
    'fmt',
    'len',
    'bix',
    'map',
    'filter',
    'years',
    '__proto__',
  ];
  const json = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom<unknown>(null, true, 0, 1, 8, -1, 0.5, 1e300, '7E0', 'F190', 'x', ''),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 }),
  })).value;

  it('any JSON is accepted, or refused with the place', () => {
    fc.assert(
      fc.property(json, (value) => {
        orVigieError(() => new ObdDecoder([parseSignalSet(JSON.stringify(value, null, 1), 'any.json')]));
      }),
      { numRuns: 1000 },
    );
  });

  it("any value of a command's member is accepted or refused", () => {
    const command = { hdr: '7E0', rax: '7E8', cmd: { '22': 'F190' }, freq: 1, signals: [raw('S')] };
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(command), 'eax', 'filter', 'fcm1', 'new'), json, (name, value) => {
        const text = JSON.stringify({ commands: [{ ...command, [name]: value }] });
        const set = orVigieError(() => parseSignalSet(text, 'any.json'));
        if (set !== undefined) orVigieError(() => new ObdDecoder([set]).decode({ response: '7E8 04 62 F1 90 01' }));
      }),
      { numRuns: 1000 },
    );
  });

  it('any format is accepted and decodes, or is refused', () => {
    const number = fc.oneof(fc.integer({ min: -10, max: 80 }), fc.double(), fc.constantFrom(0, 1, 1e308));
    const fmt = fc.record(
      {
        len: number,
        bix: number,
        blsb: fc.boolean(),
        sign: fc.boolean(),
        mul: number,
        div: number,
        add: number,
        max: number,
        min: number,
        nullmin: number,
        unit: fc.constantFrom('ascii', 'hex', 'noyes'),
        map: fc.constant({ 1: 'ON' }),
      },
      { requiredKeys: ['len'] },
    );
    fc.assert(
      fc.property(fmt, fc.uint8Array({ maxLength: 12 }), (format, data) => {
        const set = orVigieError(() => setOf({ cmd: { '22': 'F190' }, signals: [raw('S', format)] }));
        if (set === undefined) return;
        const response = `62F190${Buffer.from(data).toString('hex')}`;
        const value = orVigieError(() => new ObdDecoder([set]).decode({ response }))?.values['S'];
        if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '{"commands": [',
    '{"commands": []}}',
    `${'['.repeat(100_000)}`,
    `{"commands":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  ])('broken or deeply nested text is refused: %#', (text) => {
    expect(() => parseSignalSet(text, 'deep.json')).toThrow(VigieError);
  });
});

describe('any answer of the standard services', () => {
  it('is decoded or refused', () => {
    const start = fc.constantFrom([0x43], [0x47], [0x59, 2], [0x49, 2], [0x49, 4], [0x41, 0], []);
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 40 }), (begin, rest) => {
        const data = Uint8Array.of(...begin, ...rest);
        orVigieError(() => readTroubleCodes(data));
        orVigieError(() => readUdsTroubleCodes(data));
        orVigieError(() => supportedParameters(data));
        orVigieError(() => vehicleIdentificationNumber([data]));
        orVigieError(() => calibrationIdentifications([data, data]));
      }),
      { numRuns: 1000 },
    );
  });
});
