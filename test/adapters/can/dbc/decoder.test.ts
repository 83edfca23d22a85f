import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DbcDecoder, DbcFrameReader } from '../../../../adapters/can/dbc/index.ts';
import { ERROR, EXTENDED, REMOTE } from '../../../../agent/ports.ts';
import { batchOf, bytes, Recorder } from './frames.ts';
import { database, layout, naiveRaw, signalText } from './layouts.ts';

const engine = database(`BO_ 100 Engine: 4 A
 SG_ Speed : 0|16@1+ (0.5,-10) [0|0] "" A
 SG_ Gear : 23|4@0+ (1,0) [0|0] "" A
 SG_ Load : 24|8@1- (1,0) [0|0] "" A
BO_ 2147483748 Engine29: 1 A
 SG_ Speed : 0|8@1+ (1,0) [0|0] "" A`);
const wanted = [
  { message: 'Engine', signal: 'Load' },
  { message: 'Engine', signal: 'Speed' },
];
const decoder = (list = wanted, buses = ['can0', 'can1']) => new DbcDecoder(list, [{ database: engine }], buses);

describe('decoder', () => {
  test('delivers the wanted signals of a frame, then marks the frame as settled', () => {
    const recorder = new Recorder();
    decoder().decode(batchOf([{ id: 100, data: bytes('10000aff'), at: 5.5 }]), recorder);
    expect(recorder.deliveries).toEqual([
      { signal: 0, value: -1, raw: -1, at: 5.5 },
      { signal: 1, value: -2, raw: 16, at: 5.5 },
      { settled: 5.5 },
    ]);
  });

  test('reports a repeated frame as alive, separately for each bus', () => {
    const recorder = new Recorder();
    const one = decoder();
    const data = bytes('10000aff');
    const frame = (at: number, bus: number) => ({ id: 100, data, bus, at });
    one.decode(batchOf([frame(1, 0), frame(2, 0), frame(3, 1)]), recorder);
    one.decode(batchOf([frame(4, 1), { id: 100, data: bytes('10000afe'), at: 5 }, frame(6, 0)]), recorder);
    const kinds = recorder.deliveries.flatMap((d) =>
      'settled' in d ? [`${d.settled} settled`] : 'alive' in d ? [`${d.at} alive ${d.alive.toSorted()}`] : [],
    );
    expect(kinds).toEqual(['1 settled', '2 alive 0,1', '3 settled', '4 alive 0,1', '5 settled', '6 settled']);
    expect(one.counts).toEqual({ frames: 6, repeated: 2, short: 0, missed: 0 });
  });

  test('decodes the signals that fit into a short frame, and reports only those as alive', () => {
    const recorder = new Recorder();
    const one = decoder();
    const batch = batchOf([
      { id: 100, data: bytes('1000') },
      { id: 100, data: bytes('1000') },
      { id: 100, data: bytes('') },
      { id: 100, data: bytes('10000001aabb') },
    ]);
    one.decode(batch, recorder);
    expect(recorder.deliveries).toEqual([
      { signal: 1, value: -2, raw: 16, at: 0 },
      { settled: 0 },
      { alive: [1], at: 1 },
      { signal: 0, value: 1, raw: 1, at: 3 },
      { signal: 1, value: -2, raw: 16, at: 3 },
      { settled: 3 },
    ]);
    expect(one.counts).toEqual({ frames: 4, repeated: 1, short: 2, missed: 3 });
  });

  test('ignores unwanted, remote and error frames, and the same number in the other identifier format', () => {
    const recorder = new Recorder();
    const data = bytes('0102030405060708');
    const ids = [101, 100 + REMOTE, 100 + ERROR, 100 + EXTENDED, 0x1fff_ffff + EXTENDED, 5000];
    decoder().decode(batchOf(ids.map((id) => ({ id, data }))), recorder);
    expect(recorder.deliveries).toEqual([]);
  });

  test('limits bindings and wanted signals to their bus, also for a bus that appears later', () => {
    const other = database('BO_ 100 Engine: 4 A\n SG_ Speed : 0|8@1+ (1,0) [0|0] "" A');
    const buses = ['can0'];
    const bound = [
      { bus: 'can0', database: engine },
      { bus: 'can1', database: other },
    ];
    const list = [
      { bus: 'can0', message: 'Engine', signal: 'Speed' },
      { message: 'Engine', signal: 'Speed' },
      { bus: 'can1', message: 'Engine', signal: 'Load' },
    ];
    const one = new DbcDecoder(list, bound, buses);
    const recorder = new Recorder();
    const data = bytes('10000000');
    one.decode(batchOf([{ id: 100, data }]), recorder);
    expect(recorder.take()).toEqual(
      new Map([
        [0, -2],
        [1, -2],
      ]),
    );
    buses.push('can1');
    one.decode(batchOf([{ id: 100, data, bus: 1 }]), recorder);
    expect(recorder.take()).toEqual(new Map([[1, 16]]));
    expect(one.problems).toEqual([{ index: 2, message: 'message Engine has no signal Load', nearest: [] }]);
  });

  test('reports unknown names and suggests similar ones', () => {
    const list = [
      { message: 'Engine', signal: 'Sped' },
      { message: 'Enigne', signal: 'Speed' },
      { message: 'Engine', signal: 'Gear' },
      { bus: 'can9', message: 'Engine', signal: 'Gear' },
    ];
    const { problems } = new DbcDecoder(list, [{ bus: 'can0', database: engine }], []);
    expect(problems).toEqual([
      { index: 0, message: 'message Engine has no signal Sped', nearest: ['Speed'] },
      { index: 1, message: 'no network description has a message Enigne', nearest: ['Engine'] },
      { index: 3, message: 'bus can9 has no network description', nearest: ['can0'] },
    ]);
    expect(new DbcDecoder(list, [], []).problems).toHaveLength(4);
  });
});

describe('multiplexing', () => {
  const multiplexed = database(`BO_ 1 M: 8 A
 SG_ Always : 56|8@1+ (1,0) [0|0] "" A
 SG_ Mux M : 0|8@1- (1,0) [0|0] "" A
 SG_ Zero m0 : 8|8@1+ (1,0) [0|0] "" A
 SG_ High m200 : 8|8@1+ (1,0) [0|0] "" A
 SG_ Inner m1M : 8|8@1+ (1,0) [0|0] "" A
 SG_ Deep m5 : 16|8@1+ (1,0) [0|0] "" A
SG_MUL_VAL_ 1 Deep Inner 5-6, 9-9;`);
  const names = ['Deep', 'Zero', 'High', 'Always'];
  const list = names.map((signal) => ({ message: 'M', signal }));
  test.each([
    ['00070000000000aa', { Zero: 7, Always: 0xaa }],
    ['0105110000000000', { Deep: 0x11, Always: 0 }],
    ['0106120000000000', { Deep: 0x12, Always: 0 }],
    ['0107130000000000', { Always: 0 }],
    ['0109130000000000', { Deep: 0x13, Always: 0 }],
    ['0205130000000000', { Always: 0 }],
    ['c805130000000001', { High: 5, Always: 1 }],
  ])('%s', (data, expected) => {
    const recorder = new Recorder();
    const one = new DbcDecoder(list, [{ database: multiplexed }], ['can0']);
    const batch = batchOf([
      { id: 1, data: bytes(data) },
      { id: 1, data: bytes(data) },
    ]);
    one.decode(batch, recorder);
    const alive = recorder.deliveries.flatMap((d) => ('alive' in d ? [d.alive.map((i) => names[i])] : []));
    expect(alive.map((found) => found.sort())).toEqual([Object.keys(expected).sort()]);
    expect(Object.fromEntries([...recorder.take()].map(([i, value]) => [names[i], value]))).toEqual(expected);
    const { Mux, Inner, ...read } = new DbcFrameReader([{ database: multiplexed }], ['can0']).decode(batch, 0)!.signals;
    expect(read).toEqual(expected);
    expect(Inner === undefined).toBe(Mux !== 1);
  });
});

describe('J1939', () => {
  const attributes =
    'BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";\nBA_DEF_DEF_ "VFrameFormat" "J1939PG";';
  const id = (hex: number) => hex + EXTENDED;
  const j1939 = database(`BO_ ${id(0x0cf00400)} FromEngine: 8 A
 SG_ Speed : 24|16@1+ (0.125,0) [0|0] "" A
BO_ ${id(0x0cf004fe)} FromAny: 8 A
 SG_ Speed : 24|16@1+ (1,0) [0|0] "" A
BO_ ${id(0x18ea00fe)} Request: 3 A
 SG_ Group : 0|24@1+ (1,0) [0|0] "" A
BO_ ${id(0x18ff0102)} Exact: 1 A
 SG_ X : 0|8@1+ (1,0) [0|0] "" A
${attributes}
BA_ "VFrameFormat" BO_ ${id(0x18ff0102)} 1;`);
  test.each([
    [0x0cf00400, 'FromEngine'],
    [0x18f00400, 'FromEngine'],
    [0x0cf00417, 'FromAny'],
    [0x18ea00fe, 'Request'],
    [0x1ceaff21, 'Request'],
    [0x18ff0102, 'Exact'],
    [0x18ff0103, undefined],
    [0x0df00400, undefined],
    [0x0cf00500, undefined],
  ])('%s is %s', (frame, message) => {
    const batch = batchOf([{ id: id(frame), data: bytes('0102034004000000') }]);
    expect(new DbcFrameReader([{ database: j1939 }], []).decode(batch, 0)?.message).toBe(message);
    const recorder = new Recorder();
    const names = ['FromEngine', 'FromAny', 'Request', 'Exact'];
    const list = [...['Speed', 'Speed', 'Group', 'X'].map((signal, i) => ({ message: names[i]!, signal }))];
    const one = new DbcDecoder(list, [{ database: j1939 }], []);
    one.decode(batch, recorder);
    expect([...recorder.take().keys()].map((i) => names[i])).toEqual(message === undefined ? [] : [message]);
    one.decode(batch, recorder);
    expect(recorder.deliveries).toEqual(message === undefined ? [] : [{ alive: [names.indexOf(message)], at: 0 }]);
  });

  test('decodes more sources than a bus can have', () => {
    const one = new DbcDecoder([{ message: 'Request', signal: 'Group' }], [{ database: j1939 }], []);
    const frames = Array.from({ length: 20_000 }, (_, i) => ({ id: id(0x18ea0000 + i), data: bytes('010203') }));
    const recorder = new Recorder();
    one.decode(batchOf(frames), recorder);
    expect(recorder.deliveries.filter((d) => 'settled' in d)).toHaveLength(20_000);
  });
});

describe('every layout', () => {
  test('decoder and reader agree with counting bits one by one', () => {
    const sizes = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 64);
    const frames = sizes.chain((size) =>
      fc.tuple(
        fc.array(layout(size), { minLength: 1, maxLength: 6 }),
        fc.uint8Array({ minLength: size, maxLength: size }),
      ),
    );
    fc.assert(
      fc.property(frames, ([layouts, data]) => {
        const signals = layouts.map((one, i) => signalText(`S${i}`, one));
        const one = database(`BO_ 5 M: ${data.length} A\n${signals.join('\n')}`);
        const batch = batchOf([
          { id: 6, data: bytes('ffffffffffffffff') },
          { id: 5, data },
          { id: 6, data: bytes('ff') },
        ]);
        const read = new DbcFrameReader([{ database: one }], []).decode(batch, 1)!.signals;
        const recorder = new Recorder();
        const list = layouts.map((_, i) => ({ message: 'M', signal: `S${i}` }));
        new DbcDecoder(list, [{ database: one }], []).decode(batch, recorder);
        const decoded = recorder.take();
        layouts.forEach((field, i) => {
          const expected = naiveRaw(data, field);
          expect(decoded.get(i)).toBe(Number(expected));
          expect(BigInt(read[`S${i}`]!)).toBe(expected);
        });
      }),
      { numRuns: 500 },
    );
  });

  test('reads floats of both byte orders, also off byte boundaries', () => {
    const length = fc.constantFrom(32, 64);
    fc.assert(
      fc.property(length, fc.nat(8), fc.boolean(), fc.double({ noNaN: true }), (bits, shift, little, value) => {
        const expected = bits === 32 ? Math.fround(value) : value;
        const view = new DataView(new ArrayBuffer(8));
        if (bits === 32) view.setFloat32(0, value);
        else view.setFloat64(0, value);
        const raw = bits === 32 ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
        const data = new Uint8Array(16);
        for (let i = 0; i < bits; i++) {
          const position = shift + (little ? i : bits - 1 - i);
          const bit = little ? position & 7 : 7 - (position & 7);
          data[position >> 3]! |= Number((raw >> BigInt(i)) & 1n) << bit;
        }
        const start = little ? shift : (shift & ~7) | (7 - (shift & 7));
        const field = { start, length: bits, byteOrder: little ? 'little' : 'big', type: 'signed' } as const;
        const one = database(`BO_ 5 M: 16 A\n${signalText('S', field)}\nSIG_VALTYPE_ 5 S : ${bits / 32};`);
        const recorder = new Recorder();
        new DbcDecoder([{ message: 'M', signal: 'S' }], [{ database: one }], []).decode(
          batchOf([{ id: 5, data }]),
          recorder,
        );
        expect(recorder.take().get(0)).toBe(expected + 0);
      }),
    );
  });
});

describe('reader', () => {
  const one = database(`BO_ 1 M: 8 A
 SG_ Wide : 0|64@1- (3,1) [0|0] "" A
 SG_ Scaled : 0|64@1- (0.5,1) [0|0] "" A
 SG_ Small : 0|8@1+ (9007199254740992,0) [0|0] "" A
VAL_ 1 Small 255 "all" 0 "none" ;`);
  const read = (hex: string, choices = false) =>
    new DbcFrameReader([{ database: one }], [], { choices }).decode(batchOf([{ id: 1, data: bytes(hex) }]), 0)?.signals;

  test('returns integers beyond 2^53 as exact text, and others as numbers', () => {
    expect(read('ffffffffffffff7f')).toMatchObject({ Wide: '27670116110564327422', Scaled: 2 ** 62 });
    expect(read('0000000000000080')).toMatchObject({ Wide: '-27670116110564327423' });
    expect(read('feffffffffffffff')).toMatchObject({ Wide: -5, Scaled: 0 });
    expect(read('0300000000000000')).toMatchObject({ Small: '27021597764222976' });
  });

  test('returns the double nearest to the exact decimal that factor and offset imply', () => {
    const scaled = fc.record({
      raw: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      factor: fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.nat(7)),
      offset: fc.tuple(fc.integer({ min: -9_999, max: 9_999 }), fc.nat(4)),
    });
    const decimal = ([digits, places]: readonly [number, number]): string => `${digits}e-${places}`;
    fc.assert(
      fc.property(scaled, ({ raw, factor, offset }) => {
        const text = `BO_ 1 M: 4 A\n SG_ S : 0|32@1- (${decimal(factor)},${decimal(offset)}) [0|0] "" A`;
        const data = new Uint8Array(4);
        new DataView(data.buffer).setInt32(0, raw, true);
        const reader = new DbcFrameReader([{ database: database(text) }], [], { decimals: true });
        const read = reader.decode(batchOf([{ id: 1, data }]), 0)?.signals['S'];
        // In units of 1e-11 every value is an integer.
        const units = ([digits, places]: readonly [number, number]): bigint =>
          BigInt(digits) * 10n ** BigInt(11 - places);
        const exact = BigInt(raw) * units(factor) + units(offset);
        // Only where a double has enough digits for all decimals.
        if (exact < 2n ** 53n && exact > -(2n ** 53n)) expect(read).toBe(Number(`${exact}e-11`));
        else expect(read).toBeCloseTo(Number(`${exact}e-11`), 2);
      }),
    );
    const real = database('BO_ 1 M: 4 A\n SG_ S : 0|32@1- (1,0) [0|0] "" A\nSIG_VALTYPE_ 1 S : 1;');
    const data = new Uint8Array(4);
    new DataView(data.buffer).setFloat32(0, 0.1, true);
    const reader = new DbcFrameReader([{ database: real }], [], { decimals: true });
    expect(reader.decode(batchOf([{ id: 1, data }]), 0)?.signals['S']).toBe(Math.fround(0.1));
  });

  test('returns the names of values on request', () => {
    expect(read('ff00000000000000', true)).toMatchObject({ Small: 'all', Wide: 766 });
    expect(read('0100000000000000', true)).toMatchObject({ Small: 9007199254740992 });
  });
});
