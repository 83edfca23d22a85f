/**
 * Compares custom signals that a wildcard selects with the naive decoder, reading by reading, for each feature of DBC
 * files.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { append, createBatch } from '../../adapters/can/frames.ts';
import { EXTENDED, FD } from '../../agent/ports.ts';
import { decoderFor, loadVehicle, type Vehicle } from '../../assembly/vehicle.ts';
import type { CustomSignal } from '../../protocol/profile.ts';
import { fileOf, readLog } from '../adapters/can/log/frames.ts';
import { asc, blf, crtd, gvret, trc } from '../adapters/can/log/writers.ts';
import { receive, run } from '../agent/signals/car.ts';
import { decodeNaively, messageOf, type NaiveValue, readNaively } from './naive-dbc.ts';
import { framesOf, type NaiveFrame } from './naive-frames.ts';

/** Limit of the integers that columns can hold. */
const REACH = 2 ** 51;
/** Resolution of signals without a natural one: floating-point numbers, and those with the factor 0. */
const STEP = 0.001;

const networks = fileURLToPath(new URL('dbc/', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-golden-signals-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Series = (readonly [at: number, value: unknown])[];

/** Messages with a unique name. */
function messagesIn(dbc: string) {
  const messages = readNaively(readFileSync(dbc));
  const clear = ({ name }: { name: string }) => messages.filter((other) => other.name === name).length === 1;
  const named = messages.filter((message) => clear(message) && message.signals.length > 0);
  return {
    messages,
    named,
    isRounded: named.some(({ signals }) => signals.some(({ float, factor }) => float || Number(factor) === 0)),
  };
}

/** A vehicle that records all signals of these messages at every change, as `M<index>.*`. */
function vehicleOf(dbc: string, { named, isRounded }: ReturnType<typeof messagesIn>): Vehicle {
  const more = `interval: 0, heartbeat: 1d${isRounded ? `, resolution: ${STEP}` : ''}`;
  const entries = named.map(({ name }, i) => `  M${i}.*: { signal: ${JSON.stringify(`${name}.*`)}, ${more} }\n`);
  const path = join(folder, 'profile.yaml');
  const buses = `buses:\n  - { name: can, dbc: [${JSON.stringify(dbc)}] }\n`;
  writeFileSync(path, `profile: 1\nname: golden\n${buses}status: {}\nsignals:\n${entries.join('')}`);
  return loadVehicle(path);
}

/** Expected readings for these values: one for every change of the encoded number. */
function arriving({ kind, resolution = 1, offset = 0, names }: CustomSignal, values: readonly [number, NaiveValue][]) {
  const series: [at: number, value: unknown, step: number][] = [];
  let last: number | undefined;
  for (const [at, { value }] of values) {
    const physical = Number(value);
    const count =
      kind === 'flag'
        ? Number(physical !== 0)
        : Math.round(kind === 'quantity' ? (physical - offset) / resolution : physical);
    const isKept = Math.abs(count) <= REACH;
    if (isKept && count !== last) {
      const name = names?.find((one) => one.count === count)?.name;
      series.push([at, kind === 'flag' ? count === 1 : (name ?? physical), Math.abs(resolution)]);
    }
    last = isKept ? count : undefined;
  }
  return series;
}

function expectSame(name: string, found: Series, expected: ReturnType<typeof arriving>, rounded: boolean): void {
  expect([name, found.map(([at]) => at)]).toEqual([name, expected.map(([at]) => at)]);
  for (const [i, [, value]] of found.entries()) {
    const [, wanted, step] = expected[i] as (typeof expected)[number];
    if (typeof wanted !== 'number') expect([name, i, value]).toEqual([name, i, wanted]);
    else {
      const error = Math.abs((value as number) - wanted);
      const most = rounded ? step * 0.50001 : Math.max(1e-12 * Math.abs(wanted), 1e-6 * step);
      expect(error, `${name} ${i}: ${value} instead of ${wanted}`).toBeLessThanOrEqual(most);
    }
  }
}

interface Timed extends NaiveFrame {
  readonly at: number;
}

/** Sends these frames to a car, and compares all received readings with the naive decoder. */
async function compare(dbc: string, frames: readonly Timed[], given: AsyncIterable<Timed> | Iterable<Timed>) {
  const network = messagesIn(dbc);
  const vehicle = vehicleOf(dbc, network);
  const signals = vehicle.profile.signals ?? [];
  const car = await run(signals, { profile: vehicle.profile, at: (frames[0] as Timed).at });
  const take = car.agent.intake(() => decoderFor(vehicle, car.agent.wanted, ['can']), { buses: ['can'] });
  for await (const { at, id, extended, data } of given) {
    if (at > car.clock.now() + 300) await car.pass(at - car.clock.now());
    const batch = createBatch(1, 64);
    append(batch, at, extended ? id + EXTENDED : id, 0, data.length > 8 ? FD : 0, data, data.length);
    take(batch);
  }
  await car.pass(70_000);
  const { readings } = receive(car.published);
  await car.drop();
  const expected = new Map<string, [number, NaiveValue][]>();
  for (const { at, id, extended, data } of frames) {
    const message = messageOf(network.messages, id, extended);
    const index = message === undefined ? -1 : network.named.indexOf(message);
    if (message === undefined || index < 0) continue;
    for (const [signal, value] of decodeNaively(message, data)) {
      const name = `M${index}.${signal.replace(/[^A-Za-z0-9_-]/g, '_')}`;
      expected.set(name, [...(expected.get(name) ?? []), [at, value]]);
    }
  }
  expect(signals.length).toBeGreaterThan(0);
  for (const signal of signals) {
    const { name } = signal;
    expectSame(name, readings.get(name) ?? [], arriving(signal, expected.get(name) ?? []), network.isRounded);
  }
  expect([...readings.keys()].filter((name) => !expected.has(name))).toEqual([]);
}

const START = 1_436_509_052_000;

/** The frames of a network, forwards and backwards, so that values change in both directions. */
function drive(dbc: string): Timed[] {
  const messages = readNaively(readFileSync(dbc));
  // Only one sender per message, because a signal name does not distinguish several senders of a parameter group.
  const senders = new Map<unknown, number>();
  const frames = framesOf(messages, basename(dbc).length).filter(({ id, extended }) => {
    const message = messageOf(messages, id, extended);
    if (!senders.has(message)) senders.set(message, id);
    return senders.get(message) === id;
  });
  return [...frames, ...frames.toReversed()].map((frame, i) => ({ ...frame, at: START + 3 * i }));
}

test.each(readdirSync(networks))(
  '%s: signals selected by a wildcard have the values of the naive decoder',
  async (file) => {
    const frames = drive(join(networks, file));
    await compare(join(networks, file), frames, frames);
  },
);

test.each(['asc', 'blf', 'crtd', 'gvret', 'trc'] as const)(
  'signals from a log in the format %s have the values of its frames',
  async (format) => {
    const dbc = join(networks, 'multiplexed.dbc');
    const frames = drive(dbc);
    const listed = frames.map(({ at, id, extended, data }) => ({
      at,
      id: extended ? id + EXTENDED : id,
      bus: 'can0',
      flags: 0,
      length: data.length,
      data: Buffer.from(data).toString('hex'),
    }));
    const writers = {
      asc: () => asc(listed, 'hex', 'absolute'),
      blf: () => blf(listed, 4_096, true),
      crtd: () => crtd(listed),
      gvret: () => gvret(listed),
      trc: () => trc(listed),
    };
    const log = await readLog(fileOf(writers[format]()));
    expect(log.format).toBe(format);
    const given = log.frames.map(({ at, id, data }) => ({
      at,
      id: id % EXTENDED,
      extended: id >= EXTENDED,
      data: new Uint8Array(Buffer.from(data, 'hex')),
    }));
    await compare(dbc, frames, given);
  },
);
