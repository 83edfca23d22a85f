/** Compares decoding a whole batch at once with decoding each frame alone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DbcDecoder, DbcFrameReader, REPEATED } from '../../../../adapters/can/dbc/index.ts';
import { EXTENDED } from '../../../../agent/ports.ts';
import { batchOf, Recorder, type TestFrame } from './frames.ts';
import { database, layout, signalText } from './layouts.ts';

const extended = 0x18fe_f100 + EXTENDED;
/** Every kind of frame: both identifiers, multiplexed, CAN FD, floats and wide integers. */
const network = database(`BO_ 1 Both: 8 A
 SG_ LittleWord : 3|12@1+ (0.5,-3) [0|0] "" A
 SG_ BigWord : 1|13@0- (2,0) [0|0] "" A
 SG_ Across : 28|9@1- (1,0) [0|0] "" A
 SG_ AcrossBig : 25|20@0+ (0.1,7) [0|0] "" A
BO_ 2 Short: 3 A
 SG_ Flag : 0|1@1+ (1,0) [0|0] "" A
 SG_ Late : 16|8@1- (1,0) [0|0] "" A
BO_ 3 Mux: 8 A
 SG_ Which M : 0|2@1+ (1,0) [0|0] "" A
 SG_ Zero m0 : 8|16@1+ (1,0) [0|0] "" A
 SG_ One m1 : 8|16@0+ (1,0) [0|0] "" A
 SG_ Always : 56|8@1+ (1,0) [0|0] "" A
BO_ ${extended} Wide: 8 A
 SG_ All : 0|64@1- (1,0) [0|0] "" A
 SG_ Full : 7|32@0+ (1,0) [0|0] "" A
 SG_ Real : 32|32@1- (2,1) [0|0] "" A
BO_ 5 Long: 24 A
 SG_ Begin : 0|8@1+ (1,0) [0|0] "" A
 SG_ End : 184|8@1+ (1,0) [0|0] "" A
SIG_VALTYPE_ ${extended} Real : 1;`);
const lengths = new Map([
  [1, 8],
  [2, 3],
  [3, 8],
  [extended, 8],
  [5, 24],
]);
const wanted = network.messages.flatMap(({ name, signals }) =>
  signals.map((signal) => ({ message: name, signal: signal.name })),
);
const buses = ['can0', 'can1'];

const frame = fc
  .record({
    // One identifier is so frequent that its groups fill up (MOST_WAITING).
    id: fc.oneof(fc.constantFrom(...lengths.keys(), 4), fc.constantFrom(1, 3)),
    bus: fc.integer({ min: 0, max: 1 }),
    // Few distinct values, so that frames repeat; some payloads are too short.
    fill: fc.constantFrom(0, 1, 2, 0x5a, 0xff),
    last: fc.nat({ max: 255 }),
    cut: fc.oneof({ arbitrary: fc.constant(0), weight: 6 }, fc.integer({ min: 1, max: 8 })),
  })
  .map(({ id, bus, fill, last, cut }) => {
    const data = new Uint8Array(Math.max(0, (lengths.get(id) ?? 8) - cut)).fill(fill);
    if (data.length > 0 && last < 64) data[data.length - 1] = last;
    return { id, bus, data };
  });

/** Decodes the frames one at a time with `DbcFrameReader`, in the format that the test compares. */
function oneByOne(frames: readonly TestFrame[]): string[] {
  const reader = new DbcFrameReader([{ database: network }], buses);
  const before = new Map<string, string>();
  return frames.flatMap((given, i) => {
    const read = reader.decode(batchOf([given]), 0);
    const names = Object.keys(read?.signals ?? {});
    if (read === undefined || names.length === 0) {
      if (read !== undefined) before.set(`${given.bus} ${given.id}`, Buffer.from(given.data).toString('hex'));
      return [];
    }
    const key = `${given.bus} ${given.id}`;
    const payload = Buffer.from(given.data).toString('hex');
    const repeated = before.get(key) === payload;
    before.set(key, payload);
    const signals = names.map((name) => {
      const index = wanted.findIndex(({ message, signal }) => message === read.message && signal === name);
      const value = read.signals[name];
      const number = value === 'nan' ? NaN : value === 'inf' ? Infinity : value === '-inf' ? -Infinity : Number(value);
      return repeated ? `${index}` : `${index}=${number + 0}`;
    });
    return [`${i} ${repeated ? 'alive' : ''} ${signals.sort().join(' ')}`];
  });
}

describe('a batch', () => {
  test('of any frames decodes like its frames one at a time', () => {
    const batches = fc.array(fc.array(frame, { maxLength: 700, size: 'max' }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(batches, (parts) => {
        const frames = parts.flat();
        const decoder = new DbcDecoder(wanted, [{ database: network }], buses);
        const columns: string[] = [];
        let from = 0;
        for (const part of parts) {
          const batch = batchOf(part);
          const readings = decoder.read(batch);
          for (let i = 0; i < readings.count; i++) {
            const signals = readings.signals(i);
            const begin = readings.begin(i);
            const values = signals.map((signal, k) =>
              begin === REPEATED ? `${signal}` : `${signal}=${readings.values[begin + k * readings.step(i)]! + 0}`,
            );
            const place = from + readings.frame(i);
            if (signals.length > 0) {
              columns.push(`${place} ${begin === REPEATED ? 'alive' : ''} ${values.sort().join(' ')}`);
            }
          }
          from += part.length;
        }
        expect(columns).toEqual(oneByOne(frames));
      }),
      { numRuns: 60 },
    );
  });

  test('delivers the same readings wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 200 }), fc.nat({ max: 200 }), (frames, at) => {
        const timed = frames.map((given, i) => ({ ...given, at: i }));
        const whole = new Recorder();
        const one = new DbcDecoder(wanted, [{ database: network }], buses);
        one.decode(batchOf(timed), whole);
        const parts = new Recorder();
        const other = new DbcDecoder(wanted, [{ database: network }], buses);
        for (const part of [timed.slice(0, at), timed.slice(at)]) other.decode(batchOf(part), parts);
        expect(parts.deliveries).toEqual(whole.deliveries);
        expect(other.counts).toEqual(one.counts);
      }),
    );
  });

  test('with an invalid offset is refused and does not affect later batches', () => {
    const decoder = new DbcDecoder(wanted, [{ database: network }], buses);
    const frames = Array.from({ length: 5 }, (_, i) => ({ id: 1, data: new Uint8Array(8).fill(i) }));
    const broken = batchOf(frames);
    broken.offset[3] = 1000;
    expect(() => decoder.read(broken)).toThrow(RangeError);
    const [recorder, fresh] = [new Recorder(), new Recorder()];
    decoder.decode(batchOf(frames), recorder);
    new DbcDecoder(wanted, [{ database: network }], buses).decode(batchOf(frames), fresh);
    expect(recorder.deliveries).toEqual(fresh.deliveries);
  });

  test('with signals at any bit position has the right raw and physical values', () => {
    const frames = fc.tuple(
      fc.array(layout(8), { minLength: 1, maxLength: 8 }),
      fc.array(fc.uint8Array({ minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 70 }),
    );
    fc.assert(
      fc.property(frames, ([layouts, payloads]) => {
        const text = layouts.map((one, i) => signalText(`S${i}`, one, '(0.25,-3)')).join('\n');
        const any = database(`BO_ 5 M: 8 A\n${text}`);
        const list = layouts.map((_, i) => ({ message: 'M', signal: `S${i}` }));
        const together = new Recorder();
        new DbcDecoder(list, [{ database: any }], []).decode(
          batchOf(payloads.map((data) => ({ id: 5, data }))),
          together,
        );
        const alone = new Recorder();
        const decoder = new DbcDecoder(list, [{ database: any }], []);
        payloads.forEach((data, i) => {
          decoder.decode(batchOf([{ id: 5, data, at: i }]), alone);
        });
        expect(together.deliveries).toEqual(alone.deliveries);
        for (const one of together.deliveries) if ('value' in one) expect(one.value).toBe(one.raw * 0.25 - 3);
      }),
      { numRuns: 200 },
    );
  });
});
