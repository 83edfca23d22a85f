/** Monitors written in the configuration, together with monitors from other sources. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MonitorDesk } from '../../../agent/monitors/desk.ts';
import type { Monitors } from '../../../agent/monitors/monitors.ts';
import type { Publisher } from '../../../agent/ports.ts';
import { encodeBody } from '../../../protocol/command.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { LogEvent } from '../../../protocol/log-events.ts';
import type { MonitorList } from '../../../protocol/schema/monitor.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { KeptMemory } from '../../rig/keeping.ts';
import { MonitorRig } from './rig.ts';

const speeding = (value = 130) => ({
  label: 'fast',
  triggerParam: {
    triggers: [{ name: 'fast', data: { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: [String(value)] } }],
    boolExp: 'fast',
  },
});

const clock = new VirtualClock();
let rig: MonitorRig;
let memory: KeptMemory;
let desk: MonitorDesk;
/** Lists sent to the cloud. */
let told: MonitorList[];
let diskRefuses = false;
let refused: { event: LogEvent; fields: unknown }[];

/** Opens the monitors of a run with the state that was committed. */
function open(monitors: Monitors): void {
  const publisher: Publisher = {
    put: () => undefined,
    secure: async (_kind, body, options) => {
      if (diskRefuses && options?.durable === true) throw new VigieError('store.failed', 'the disk is full');
      told.push(body as MonitorList);
    },
  };
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (event: LogEvent, fields?: unknown) => void refused.push({ event, fields }),
  };
  desk = new MonitorDesk(monitors, { publisher, clock, log });
  desk.recall(memory);
  memory.keep(() => desk.states());
}

/** A power cut after a commit, and a new start. */
function restart(): void {
  memory.commit();
  clock.advance(60_000);
  rig.restart(clock.now());
  open(rig.monitors);
}

const ids = (): string[] => desk.all.map(({ monitorId }) => monitorId).sort();

beforeEach(() => {
  rig = new MonitorRig();
  memory = new KeptMemory();
  told = [];
  refused = [];
  diskRefuses = false;
  open(rig.monitors);
});

test('a list of monitors that damage may have destroyed is published again, even if it is empty now', async () => {
  await desk.put('a', speeding());
  rig = new MonitorRig();
  memory = Object.assign(new KeptMemory(), { damaged: true });
  told = [];
  open(rig.monitors);
  await desk.announce();
  expect(told).toMatchObject([{ monitors: [] }]);
});

test('a list that the disk refuses is published only when the disk takes it', async () => {
  diskRefuses = true;
  await expect(desk.put('a', speeding())).rejects.toThrow('the disk is full');
  for (let second = 0; second < 20; second++) {
    clock.advance(1_000);
    desk.look();
    await Promise.resolve();
  }
  expect(told).toEqual([]);
  diskRefuses = false;
  for (let second = 0; second < 6; second++) {
    clock.advance(1_000);
    desk.look();
    await Promise.resolve();
  }
  expect(told).toMatchObject([{ monitors: [{ monitorId: 'a' }] }]);
});

describe('configured monitors', () => {
  test('configured monitors are watched, stay unchanged after a restart, and are reported once per run', async () => {
    const written = [
      { monitorId: 'a', monitor: speeding() },
      { monitorId: 'b', monitor: speeding(50), status: 'Paused' as const },
    ];
    await desk.take(written);
    expect(told).toMatchObject([
      {
        monitors: [
          { monitorId: 'a', status: 'Running' },
          { monitorId: 'b', status: 'Paused' },
        ],
      },
    ]);
    const before = desk.all;
    restart();
    await desk.take(written);
    await desk.announce();
    expect(desk.all).toEqual(before);
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0]);
  });

  test('monitors added in an earlier run are reported by a run without configured ones', async () => {
    await desk.announce();
    expect(told).toEqual([]);
    await desk.put('cloud', speeding());
    restart();
    await desk.announce();
    await desk.announce();
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0]);
  });

  test('configured monitors change with the configuration across restarts, and others do not', async () => {
    await desk.put('cloud', speeding());
    await desk.take([
      { monitorId: 'a', monitor: speeding() },
      { monitorId: 'b', monitor: speeding() },
    ]);
    restart();
    await desk.take([{ monitorId: 'b', monitor: speeding(90) }]);
    expect(ids()).toEqual(['b', 'cloud']);
    expect(desk.get('b')?.monitor).toMatchObject(speeding(90));
    restart();
    await desk.take([]);
    expect(ids()).toEqual(['cloud']);
    restart();
    await desk.take([{ monitorId: 'a', monitor: speeding() }]);
    expect(ids()).toEqual(['a', 'cloud']);
    expect(refused).toEqual([]);
  });

  test('a configured monitor does not replace one with the same id from elsewhere', async () => {
    await desk.put('mine', speeding(80));
    await desk.take([{ monitorId: 'mine', monitor: speeding() }]);
    expect(desk.get('mine')?.monitor).toMatchObject(speeding(80));
    expect(refused).toMatchObject([{ fields: { monitorId: 'mine', error: expect.stringContaining('somebody else') } }]);
    restart();
    await desk.take([]);
    expect(ids()).toEqual(['mine']);
  });

  test('a replaced configured monitor belongs to its new owner, and a removed one returns at the next start', async () => {
    const written = [
      { monitorId: 'a', monitor: speeding() },
      { monitorId: 'b', monitor: speeding() },
    ];
    await desk.take(written);
    await desk.put('a', speeding(70));
    await desk.remove('b');
    restart();
    await desk.take(written);
    expect(desk.get('a')?.monitor).toMatchObject(speeding(70));
    expect(ids()).toEqual(['a', 'b']);
    restart();
    await desk.take([]);
    expect(ids()).toEqual(['a']);
  });

  test('a configured monitor stays paused after a command, unless the configuration sets its status', async () => {
    const written = { monitorId: 'a', monitor: speeding() };
    await desk.take([written]);
    await desk.setStatus('a', 'Paused');
    restart();
    await desk.take([written]);
    expect(desk.get('a')?.status).toBe('Paused');
    await desk.take([{ ...written, status: 'Running' }]);
    expect(desk.get('a')?.status).toBe('Running');
  });

  test('an invalid configured monitor is logged and leaves its previous version and all others unchanged', async () => {
    await desk.take([{ monitorId: 'a', monitor: speeding() }]);
    await desk.take([
      { monitorId: 'a', monitor: { label: 'no triggers' } },
      { monitorId: 'b', monitor: speeding(50) },
    ]);
    expect(ids()).toEqual(['a', 'b']);
    expect(desk.get('a')?.monitor).toMatchObject(speeding());
    expect(refused).toMatchObject([{ fields: { monitorId: 'a', error: expect.stringContaining('triggerParam') } }]);
    restart();
    await desk.take([]);
    expect(ids()).toEqual([]);
  });
});

describe('commands about monitors', () => {
  const order = (body: object): Promise<void> => desk.order(encodeBody('Monitor', body));

  test('a redundant command publishes the list again, because its sender has a stale list', async () => {
    const given = { monitorId: 'a', monitor: speeding(), revision: 'first' };
    await order(given);
    await order(given);
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0]);
    await order({ monitorId: 'gone', remove: true });
    expect(told[2]).toEqual(told[0]);
    restart();
    await order(given);
    expect(told).toHaveLength(4);
  });

  test('a command adds, pauses and removes a monitor', async () => {
    await order({ monitorId: 'a', monitor: speeding() });
    expect(desk.get('a')?.status).toBe('Running');
    await order({ monitorId: 'a', status: 'Paused' });
    expect(desk.get('a')?.status).toBe('Paused');
    await order({ monitorId: 'a', remove: true });
    expect(ids()).toEqual([]);
  });

  test('a command that requests nothing is refused', async () => {
    for (const body of [{ monitorId: 'a' }, { monitorId: 'a', remove: false }]) {
      await expect(order(body)).rejects.toMatchObject({ code: 'command.malformed' });
    }
    expect(ids()).toEqual([]);
  });
});
