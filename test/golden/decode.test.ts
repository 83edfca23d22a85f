/** Real network descriptions and frames, with the physical value of every signal computed by another decoder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DbcCodec, DbcDecoder, DbcFrameReader, parseDbc } from '../../adapters/can/dbc/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { batchOf, bytes, Recorder } from '../adapters/can/dbc/frames.ts';
import { describeShared, sharedData } from '../shared.ts';

interface Golden {
  readonly id: number;
  readonly extended: boolean;
  readonly message: string;
  readonly data: string;
  readonly signals: Readonly<Record<string, number | string>>;
}

const numberOf = (value: number | string): number =>
  value === 'nan' ? Number.NaN : value === 'inf' ? Infinity : value === '-inf' ? -Infinity : Number(value);

function close(actual: number, expected: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  return Math.abs(actual - expected) <= 1e-12 * Math.abs(expected);
}

describeShared('decoding agrees with the golden values', () => {
  const folder = join(sharedData, 'golden/decode');
  for (const file of readdirSync(folder)) {
    const [set, ...rest] = file.replace(/\.ndjson$/, '').split('__');
    const dbc = join(sharedData, 'dbc', set!, `${rest.join('__')}.dbc`);
    const load = () => {
      const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
      const golden = lines.map((line) => JSON.parse(line) as Golden);
      const frames = golden.map(({ id, extended, data }) => ({ id: extended ? id + EXTENDED : id, data: bytes(data) }));
      const { database } = parseDbc(readFileSync(dbc), dbc);
      expect(golden.length).toBeGreaterThan(0);
      return { golden, frames, batch: batchOf(frames), database };
    };

    test(`${file}: reader, every signal`, () => {
      const { golden, batch, database } = load();
      const reader = new DbcFrameReader([{ database }], ['can0']);
      golden.forEach(({ message, signals }, i) => {
        const found = reader.decode(batch, i);
        expect(found?.message).toBe(message);
        expect(Object.keys(found!.signals).sort()).toEqual(Object.keys(signals).sort());
        for (const [name, expected] of Object.entries(signals)) {
          const actual = found!.signals[name]!;
          const equal = typeof expected === 'string' ? actual === expected : close(actual as number, expected);
          expect(equal, `${message}.${name}: ${actual} instead of ${expected}`).toBe(true);
        }
      });
    });

    test(`${file}: decoder and codec, as numbers`, () => {
      const { golden, frames, batch, database } = load();
      // Two messages may have one name: then the name means both.
      const wanted = [
        ...new Map(
          database.messages.flatMap(({ symbol: message, signals }) =>
            signals.map(({ symbol: signal, name }) => [`${message} ${signal}`, { message, signal, name }] as const),
          ),
        ).values(),
      ];
      const decoder = new DbcDecoder(wanted, [{ database }], ['can0']);
      const codec = new DbcCodec([{ database }]);
      const recorder = new Recorder();
      golden.forEach(({ id, extended, message, signals }, i) => {
        // One frame at a time, and a different one between equal ones, so that each is decoded.
        decoder.decode({ ...batch, ...batchOf([frames[i]!]) }, recorder);
        const found = recorder.deliveries.splice(0);
        const expected = Object.entries(signals);
        const repeated = i > 0 && golden[i - 1]!.id === id && golden[i - 1]!.data === golden[i]!.data;
        if (repeated) expect(found).toEqual([expect.objectContaining({ alive: expect.any(Array) })]);
        else {
          const own = found.flatMap((one) => ('signal' in one ? [one] : []));
          expect(own).toHaveLength(expected.length);
          for (const { signal, value } of own) {
            const want = signals[wanted[signal]!.name]!;
            expect(close(value, numberOf(want)), `${message}.${wanted[signal]!.name}: ${value} not ${want}`).toBe(true);
          }
        }
        const decoded = codec.decode({ id: extended ? id + EXTENDED : id, flags: 0, data: frames[i]!.data });
        expect(decoded?.message).toBe(message);
        expect(Object.keys(decoded!.signals)).toHaveLength(expected.length);
        for (const [name, want] of expected) expect(close(decoded!.signals[name]!, numberOf(want))).toBe(true);
      });
    });
  }
});
