/**
 * DBC files and frames, with the physical value of every signal from another decoder: for the files of this folder, one
 * for each feature of the format, and for the shipped profiles from the naive decoder; for the optional shared files
 * from an independent decoder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { DbcCodec, DbcDecoder, DbcFrameReader, parseDbc } from '../../adapters/can/dbc/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { shippedProfiles } from '../../config/shipped.ts';
import { batchOf, bytes, Recorder } from '../adapters/can/dbc/frames.ts';
import { describeShared, sharedData } from '../shared.ts';
import { decodeNaively, messageOf, type NaiveValue, readNaively } from './naive-dbc.ts';
import { framesOf } from './naive-frames.ts';
import { worked } from './worked-frames.ts';

interface Golden {
  readonly id: number;
  readonly extended: boolean;
  readonly message: string;
  readonly data: Uint8Array;
  readonly signals: ReadonlyMap<string, Pick<NaiveValue, 'value' | 'step'>>;
}

const folder = fileURLToPath(new URL('dbc/', import.meta.url));
const own = readdirSync(folder).map((file) => join(folder, file));
const shipped = readdirSync(shippedProfiles, { recursive: true })
  .filter((file) => String(file).endsWith('.dbc'))
  .map((file) => join(shippedProfiles, String(file)));

const numberOf = (value: number | string): number =>
  value === 'nan' ? Number.NaN : value === 'inf' ? Infinity : value === '-inf' ? -Infinity : Number(value);

/** The last digits of a double may differ; this tolerance is far below one step of the raw value. */
function close(actual: number, { value, step }: Pick<NaiveValue, 'value' | 'step'>): boolean {
  const expected = numberOf(value);
  if (Object.is(actual, expected) || actual === expected) return true;
  return Math.abs(actual - expected) <= Math.max(1e-12 * Math.abs(expected), 1e-6 * step);
}

/** Compares all decoders for the frames of a network. */
function agreement(dbc: string, load: () => readonly Golden[]): void {
  const prepare = () => {
    const golden = load();
    const { database } = parseDbc(readFileSync(dbc), dbc);
    const frames = golden.map(({ id, extended, data }) => ({ id: extended ? id + EXTENDED : id, data }));
    expect(golden.length).toBeGreaterThan(0);
    return { golden, frames, batch: batchOf(frames), database };
  };

  test(`${basename(dbc)}: the reader returns the right value for every signal`, () => {
    const { golden, batch, database } = prepare();
    const reader = new DbcFrameReader([{ database }], ['can0']);
    golden.forEach(({ message, signals }, i) => {
      const found = reader.decode(batch, i);
      expect(found?.message).toBe(message);
      expect(Object.keys(found!.signals).sort()).toEqual([...signals.keys()].sort());
      for (const [name, expected] of signals) {
        const actual = found!.signals[name]!;
        const equal =
          typeof expected.value === 'string' ? actual === expected.value : close(actual as number, expected);
        expect(equal, `${message}.${name}: ${actual} instead of ${expected.value}`).toBe(true);
      }
    });
  });

  test(`${basename(dbc)}: decoder and codec return the right number for every signal`, () => {
    const { golden, frames, batch, database } = prepare();
    // If two messages have one name, the name selects both.
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
    golden.forEach(({ id, extended, message, signals, data }, i) => {
      // One frame at a time, so that a repeated frame is recognised as such.
      decoder.decode({ ...batch, ...batchOf([frames[i]!]) }, recorder);
      const found = recorder.deliveries.splice(0);
      const before = golden[i - 1];
      const repeated = before?.id === id && Buffer.from(before.data).equals(data);
      if (repeated) expect(found).toEqual([expect.objectContaining({ alive: expect.any(Array) })]);
      else {
        const readings = found.flatMap((one) => ('signal' in one ? [one] : []));
        expect(readings.map(({ signal }) => wanted[signal]!.name).sort()).toEqual([...signals.keys()].sort());
        for (const { signal, value } of readings) {
          const { name } = wanted[signal]!;
          const expected = signals.get(name)!;
          expect(close(value, expected), `${message}.${name}: ${value} instead of ${expected.value}`).toBe(true);
        }
      }
      const decoded = codec.decode({ id: extended ? id + EXTENDED : id, flags: 0, data });
      expect(decoded?.message).toBe(message);
      expect(Object.keys(decoded!.signals)).toHaveLength(signals.size);
      for (const [name, expected] of signals) {
        const actual = decoded!.signals[name]!;
        expect(close(actual, expected), `${message}.${name}: ${actual} instead of ${expected.value}`).toBe(true);
      }
    });
  });
}

function naiveGolden(dbc: string): Golden[] {
  const messages = readNaively(readFileSync(dbc));
  return framesOf(messages, basename(dbc).length).map(({ id, extended, data }) => {
    const message = messageOf(messages, id, extended)!;
    return { id, extended, message: message.name, data, signals: decodeNaively(message, data) };
  });
}

describe.each([
  ['for each feature of the format', own],
  ['of the shipped profiles', shipped],
] as const)('DBC files %s decode like with the naive decoder', (_, files) => {
  for (const dbc of files) agreement(dbc, () => naiveGolden(dbc));

  test.each(files)('%s: named values are read as their names', (dbc) => {
    const messages = readNaively(readFileSync(dbc));
    const { database } = parseDbc(readFileSync(dbc), dbc);
    const reader = new DbcFrameReader([{ database }], ['can0'], { choices: true });
    for (const { id, extended, data } of framesOf(messages, 1)) {
      const expected = decodeNaively(messageOf(messages, id, extended)!, data);
      const found = reader.decode(batchOf([{ id: extended ? id + EXTENDED : id, data }]), 0);
      for (const [name, { choice }] of expected) {
        if (choice !== undefined) expect(found!.signals[name], `${found!.message}.${name}`).toBe(choice);
        else expect(found!.signals[name], name).not.toEqual(expect.stringMatching(/^(?!-?\d+$|nan$|-?inf$)/));
      }
    }
  });
});

describe('frames with values computed by hand', () => {
  test.each(worked)('$file: $why', ({ file, id, data, signals }) => {
    const path = join(folder, file);
    const { database } = parseDbc(readFileSync(path), path);
    const found = new DbcFrameReader([{ database }], ['can0'], { choices: true }).decode(
      batchOf([{ id, data: bytes(data) }]),
      0,
    );
    expect({ ...found?.signals }).toEqual(signals);
    const messages = readNaively(readFileSync(path));
    const message = messageOf(messages, id % EXTENDED, id >= EXTENDED)!;
    const naive = [...decodeNaively(message, bytes(data))].map(([name, { value, choice }]) => [name, choice ?? value]);
    expect(Object.fromEntries(naive)).toEqual(signals);
  });
});

describeShared('network descriptions beside the project decode as another decoder does', () => {
  const goldenFolder = join(sharedData, 'golden/decode');
  const files = readdirSync(goldenFolder).map((file) => {
    const [set = '', ...rest] = file.replace(/\.ndjson$/, '').split('__');
    return { file, dbc: join(sharedData, 'dbc', set, `${rest.join('__')}.dbc`) };
  });
  const golden = (file: string): Golden[] =>
    readFileSync(join(goldenFolder, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const { signals, data, ...rest } = JSON.parse(line) as {
          id: number;
          extended: boolean;
          message: string;
          data: string;
          signals: Record<string, number | string>;
        };
        const values = Object.entries(signals).map(([name, value]) => [name, { value, step: 0 }] as const);
        return { ...rest, data: bytes(data), signals: new Map(values) };
      });
  for (const { file, dbc } of files) agreement(dbc, () => golden(file));

  test.each(files)('$file: the naive decoder agrees with it', ({ file, dbc }) => {
    expect(existsSync(dbc)).toBe(true);
    const messages = readNaively(readFileSync(dbc));
    for (const { id, extended, message, data, signals } of golden(file)) {
      const found = messageOf(messages, id, extended)!;
      expect(found.name).toBe(message);
      const naive = decodeNaively(found, data);
      expect([...naive.keys()].sort()).toEqual([...signals.keys()].sort());
      for (const [name, expected] of signals) {
        const { value, step } = naive.get(name)!;
        expect(
          close(numberOf(value), { ...expected, step }),
          `${message}.${name}: ${value} not ${expected.value}`,
        ).toBe(true);
      }
    }
  });
});
