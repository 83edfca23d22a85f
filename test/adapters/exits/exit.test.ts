/** Values of a car as plain topics, with a real Status, on a link and a clock that the test controls. */
import { describe, expect, test } from 'vitest';
import { CommandTopics, orders } from '../../../adapters/exits/commands.ts';
import { CarExit, type ExitTopics } from '../../../adapters/exits/exit.ts';
import { Status } from '../../../agent/model/status.ts';
import type { OutgoingMessage } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

function slot(path: string): Slot {
  const found = slotByPath.get(path);
  if (found === undefined) throw new Error(`no slot ${path}`);
  return found;
}
const speed = slot('kinetic.speed');
const locked = slot('doorsState.lockedStates');
const latitude = slot('lastPosition.latitude');
const longitude = slot('lastPosition.longitude');

interface Sent {
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
}

function startExit(
  topics: Partial<ExitTopics> = {},
  more: { readonly sees?: (slot: Slot) => boolean; readonly fed?: readonly string[] } = {},
) {
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const status = new Status();
  const sent: Sent[] = [];
  const described: string[][] = [];
  const submitted: string[] = [];
  const refused: string[] = [];
  const link = {
    connected: false,
    fault: undefined as VigieError | undefined,
    publish: async ({ topic, payload, retain }: OutgoingMessage): Promise<void> => {
      if (link.fault !== undefined) throw link.fault;
      sent.push({ topic, text: new TextDecoder().decode(payload), retain });
    },
  };
  const exit = new CarExit({
    ...{ vin: 'VIN', status, clock, log, link, fed: (more.fed ?? []).map(slot) },
    topics: { prefix: 'plain', form: 'value', retain: true, interval: 1_000, ...topics },
    sees: more.sees ?? (() => true),
    describe: (known) => {
      described.push([...known].map(({ path }) => path));
      return [];
    },
    commands: new CommandTopics({
      may: (type) => type !== 'Horn',
      submit: async ({ verb, word }) => submitted.push(`${verb} ${word}`),
      refused: ({ verb, word }, reason) => refused.push(`${verb} ${word}: ${reason}`),
      log,
    }),
  });
  status.observe(exit);
  const connect = (): void => {
    link.connected = true;
    exit.up();
  };
  const disconnect = (): void => {
    link.connected = false;
    exit.down();
  };
  const write = (path: Slot, value: Parameters<Status['write']>[1]): void => status.write(path, value, clock.now());
  /** Passes the time, and lets the messages of each round be acknowledged. */
  const pass = async (ms: number): Promise<void> => {
    for (let step = 0; step < ms; step += 100) {
      await clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const take = (): Sent[] => sent.splice(0);
  return { clock, log, status, exit, link, connect, disconnect, write, pass, take, described, submitted, refused };
}

describe('plain topics', () => {
  test('each value has a topic of its own path, with the text of the value', async () => {
    const { connect, write, pass, take } = startExit();
    connect();
    write(speed, 57.6);
    write(locked, ['Locked', 'CargoDoorsLocked']);
    write(slot('kinetic.moving'), true);
    write(slot('stolen.startedAt'), Date.UTC(2026, 0, 1));
    await pass(100);
    expect(take()).toEqual([
      { topic: 'plain/VIN/kinetic/speed', text: '57.6', retain: true },
      { topic: 'plain/VIN/doorsState/lockedStates', text: 'Locked,CargoDoorsLocked', retain: true },
      { topic: 'plain/VIN/kinetic/moving', text: 'true', retain: true },
      { topic: 'plain/VIN/stolen/startedAt', text: '2026-01-01T00:00:00.000Z', retain: true },
    ]);
  });

  test('before it stops it sends what still waits for its interval, and later nothing', async () => {
    const { exit, connect, write, pass, take } = startExit();
    connect();
    write(locked, ['Unlocked']);
    await pass(100);
    take();
    write(locked, ['Locked']);
    exit.tell({ topic: 'plain/VIN/command', text: 'done', retain: true });
    exit.close();
    const last = [
      { topic: 'plain/VIN/doorsState/lockedStates', text: 'Locked', retain: true },
      { topic: 'plain/VIN/command', text: 'done', retain: true },
    ];
    expect(take()).toEqual(last);
    await pass(2_000);
    expect(take()).toEqual([]);
  });

  test('in the form json a topic has unit, time and freshness, and says when the value has become stale', async () => {
    const { status, clock, connect, write, pass, take } = startExit({ form: 'json' });
    connect();
    status.expireAfter(speed, 3_000);
    const at = new Date(clock.now()).toISOString();
    write(speed, 57.6);
    await pass(100);
    expect(take().map(({ text }) => JSON.parse(text))).toEqual([{ value: 57.6, unit: 'km/h', at, stale: false }]);
    await pass(4_000);
    status.sweep(clock.now());
    await pass(1_000);
    expect(take().map(({ text }) => JSON.parse(text))).toEqual([{ value: 57.6, unit: 'km/h', at, stale: true }]);
  });

  test('one topic gets at most one message per interval, which has the newest value', async () => {
    const { connect, write, pass, take } = startExit();
    connect();
    for (let step = 0; step < 100; step++) {
      write(speed, step);
      await pass(100);
    }
    const texts = take().map(({ text }) => Number(text));
    expect(texts.length).toBeLessThanOrEqual(11);
    expect(texts.length).toBeGreaterThanOrEqual(10);
    await pass(1_000);
    expect([...texts, ...take().map(({ text }) => Number(text))].at(-1)).toBe(99);
  });

  test('after an outage all present values are sent, each once', async () => {
    const { connect, disconnect, write, pass, take } = startExit();
    write(slot('odometer.mileage'), 12);
    connect();
    await pass(100);
    take();
    disconnect();
    for (let step = 0; step < 50; step++) {
      write(speed, step);
      await pass(100);
    }
    expect(take()).toEqual([]);
    connect();
    await pass(1_100);
    expect(take().map(({ topic, text }) => [topic, text])).toEqual([
      ['plain/VIN/kinetic/speed', '49'],
      ['plain/VIN/odometer/mileage', '12'],
    ]);
  });

  test('a value that is no longer known empties its topic, and the position', async () => {
    const { connect, status, clock, write, pass, take } = startExit();
    connect();
    write(latitude, 48.1);
    write(longitude, 2.3);
    await pass(1_100);
    expect(take().at(-1)).toEqual({
      topic: 'plain/VIN/position',
      text: '{"latitude":48.1,"longitude":2.3}',
      retain: true,
    });
    status.remove(latitude, clock.now());
    await pass(1_100);
    expect(take()).toEqual([
      { topic: 'plain/VIN/lastPosition/latitude', text: '', retain: true },
      { topic: 'plain/VIN/position', text: '{}', retain: true },
    ]);
  });

  test('the state of the charging cable and of conditioning are topics for energy managers', async () => {
    const { connect, write, pass, take } = startExit();
    const combined = async () => {
      await pass(1_100);
      return Object.fromEntries(
        take().flatMap(({ topic, text }) => (topic.split('/').length === 3 ? [[topic, text]] : [])),
      );
    };
    const charging = 'energies.Electric.extension.electric.charging';
    connect();
    write(slot(`${charging}.status`), 'Disconnected');
    expect(await combined()).toEqual({ 'plain/VIN/charging': 'A' });
    write(slot(`${charging}.plugged`), true);
    expect(await combined()).toEqual({ 'plain/VIN/charging': 'B' });
    write(slot(`${charging}.status`), 'InProgress');
    write(slot('preconditioning.airConditioning.status'), 'Enabled');
    expect(await combined()).toEqual({ 'plain/VIN/charging': 'C', 'plain/VIN/conditioning': 'true' });
    write(slot('preconditioning.airConditioning.status'), 'Finished');
    expect(await combined()).toEqual({ 'plain/VIN/conditioning': 'false' });
  });

  test('a value without its scope leaves the car in no topic', async () => {
    const { connect, write, pass, take, described } = startExit(
      {},
      { sees: ({ path }) => !path.startsWith('lastPosition.'), fed: ['lastPosition.latitude', 'kinetic.speed'] },
    );
    write(longitude, 2.3);
    connect();
    write(latitude, 48.1);
    write(speed, 1);
    await pass(1_100);
    expect(take().map(({ topic }) => topic)).toEqual(['plain/VIN/kinetic/speed']);
    expect(described).toEqual([['kinetic.speed']]);
  });

  test('a value that the profile does not feed is described when it comes', async () => {
    const { connect, write, pass, described } = startExit({}, { fed: ['kinetic.speed'] });
    connect();
    await pass(1_100);
    write(slot('battery.voltage'), 80);
    await pass(1_100);
    expect(described).toEqual([['kinetic.speed'], ['kinetic.speed', 'battery.voltage']]);
  });

  test('a refusal of the broker is logged at powers of two, and the values are sent again', async () => {
    const { connect, link, log, write, pass, take } = startExit();
    link.fault = new VigieError('link.refused', 'not authorized');
    connect();
    write(speed, 3);
    await pass(10_500);
    expect(log.lines.map(({ event, fields }) => [event, fields?.['times']])).toEqual([
      ['exit.refused', 1],
      ['exit.refused', 2],
      ['exit.refused', 4],
      ['exit.refused', 8],
    ]);
    link.fault = undefined;
    await pass(1_100);
    expect(take().map(({ text }) => text)).toEqual(['3']);
  });
});

describe('commands on plain topics', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  test('an order of `vigie send` is submitted, whatever its case and the spaces around it', () => {
    const { exit, submitted, refused } = startExit();
    exit.message('plain/VIN/set/doors', bytes(' LOCK\n'));
    exit.message('plain/VIN/set/wakeup', bytes('wakeup'));
    exit.message('plain/VIN/set/charge', bytes('true'));
    exit.message('plain/VIN/set/charge', bytes('false'));
    expect(submitted).toEqual(['doors lock', 'wakeup wakeup', 'charge on', 'charge off']);
    expect(refused).toEqual([]);
  });

  test('a retained command is refused: the broker would send it at each connection', () => {
    const { exit, submitted, refused } = startExit();
    exit.message('plain/VIN/set/doors', bytes('unlock'), undefined, true);
    expect(submitted).toEqual([]);
    expect(refused).toEqual([
      'doors unlock: the broker retained it, so it would be carried out again; send it without retain',
    ]);
  });

  test('unknown topics and words, and kinds without a scope, are refused with the reason', () => {
    const { exit, submitted, refused, log } = startExit();
    exit.message('plain/VIN/set/doors', bytes('open'));
    exit.message('plain/VIN/set/engine', bytes('on'));
    exit.message('plain/VIN/set/horn', bytes('on'));
    exit.message('plain/VIN/set/doors', bytes('x'.repeat(100_000)));
    exit.message('plain/VIN/set/doors', Uint8Array.of(0xff, 0xfe));
    exit.message('plain/VIN/set/doors', bytes(''));
    expect(submitted).toEqual([]);
    expect(refused.slice(0, 3)).toEqual([
      'doors open: there is no such command; doors takes lock, unlock',
      `engine on: there is no such command; the topics are set/${[...new Set(orders.map(({ verb }) => verb))].join(', set/')}`,
      'horn on: exits.scopes does not allow Horn',
    ]);
    expect(refused).toHaveLength(5);
    expect(Math.max(...refused.map(({ length }) => length))).toBeLessThan(300);
    expect(log.lines.map(({ event }) => event)).toEqual(Array(5).fill('exit.commandRefused'));
  });
});
