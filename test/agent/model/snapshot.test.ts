import { describe, expect, test } from 'vitest';
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Snapshot } from '../../../agent/model/snapshot.ts';
import { Status } from '../../../agent/model/status.ts';
import type { Recorder } from '../../../agent/recorders/recorder.ts';
import { Records } from '../../../agent/records.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { LogEvent } from '../../../protocol/log-events.ts';
import { type Slot, type SlotValue, slotByPath } from '../../../protocol/slots.ts';
import { KeptMemory } from '../../rig/keeping.ts';

const T = Date.UTC(2026, 0, 1);

class Counter implements Recorder {
  readonly name = 'counter';
  count = 0;
  changed(): void {
    this.count++;
  }
  tick(): void {}
  flush(): void {}
  state(): unknown {
    return { count: this.count };
  }
  restore(state: unknown): void {
    const { count } = state as { count: unknown };
    if (typeof count !== 'number') throw new VigieError('input.malformed', 'no count');
    this.count = count;
  }
}

function start(memory: KeptMemory) {
  const said: string[] = [];
  const log = {
    info: () => undefined,
    warn: (event: LogEvent, fields?: Record<string, unknown>) => said.push(`${event}: ${fields?.['key']}`),
    error: () => undefined,
  };
  const publisher = { put: () => undefined, secure: async () => undefined };
  const status = new Status();
  const store = new MemoryRecords();
  const records = new Records(publisher, store, log);
  const counter = new Counter();
  const recollection = new Snapshot(status, records, [counter], log);
  recollection.recall(memory);
  memory.keep(() => recollection.states());
  status.observe(counter);
  const write = (path: string, value: SlotValue, at: number) => status.write(slotByPath.get(path) as Slot, value, at);
  return { status, records, store, counter, write, said };
}

describe('stored state of the core', () => {
  test('Status, ids and recorder state are restored at the next start', () => {
    const memory = new KeptMemory();
    const first = start(memory);
    first.write('kinetic.speed', 50, T);
    first.write('energies.Electric.level', 80, T + 1);
    first.write('energies.Electric.extension.electric.battery.load.residual', 40_000, T + 2);
    first.write('lastPosition.latitude', 48, T + 3);
    first.write('lastPosition.longitude', 2, T + 3);
    const id = first.records.newId(T);
    memory.commit();
    const second = start(memory);
    expect(second.status.contents()).toEqual(first.status.contents());
    expect(second.counter.count).toBe(5);
    expect(second.records.newId(T)).not.toBe(id);
    expect(second.said).toEqual([]);
  });

  test('each commit stores only changes, and removed state is deleted', () => {
    const memory = new KeptMemory();
    const { write, status } = start(memory);
    write('kinetic.speed', 50, T);
    memory.commit();
    expect([...memory.kept.keys()].sort()).toEqual(['counter', 'records', 'status/kinetic']);
    memory.kept.clear();
    write('odometer.mileage', 7, T);
    status.remove(slotByPath.get('kinetic.speed') as Slot, T + 1);
    memory.commit();
    expect(memory.kept.has('status/odometer')).toBe(true);
    expect(memory.kept.has('status/kinetic')).toBe(false);
  });

  test('unreadable stored state is logged, and its part starts empty', () => {
    const memory = new KeptMemory();
    memory.kept.set('counter', { count: 'many' });
    memory.kept.set('status/kinetic', 'fast');
    memory.kept.set('status/odometer', { odometer: { createdAt: T, mileage: 12 } });
    const { counter, status, said } = start(memory);
    expect(counter.count).toBe(0);
    expect(status.contents()).toEqual({ odometer: { createdAt: T, mileage: 12 } });
    expect(said).toEqual(['state.unreadable: counter']);
  });
});

describe('records from an unknown time', () => {
  test('records from a time without a clock are moved when the time is known, and others stay', () => {
    const { records, store } = start(new KeptMemory());
    const points = (at: number) => ({ points: [{ at, latitude: 48, longitude: 2, type: 'Acquire' as const }] });
    records.trustClock(false);
    records.append('waypoint', points(T), T);
    records.append('waypoint', points(1_000), 1_000);
    records.correct(T, 60_000);
    expect([...store.list('waypoint')].map(({ at, record }) => [at, record])).toEqual([
      [T, points(T)],
      [T + 1_000, points(T + 1_000)],
    ]);
  });
});

describe('freshness of Status', () => {
  test('a value is reported once as stale, and once when it is read again', () => {
    const status = new Status();
    const speed = slotByPath.get('kinetic.speed') as Slot;
    const said: [string, boolean, number][] = [];
    status.observe({ changed: () => undefined, stale: (slot, stale, at) => said.push([slot.path, stale, at]) });
    status.expireAfter(speed, 5000);
    status.sweep(T);
    status.write(speed, 50, T);
    status.sweep(T + 5000);
    expect(status.stale).toEqual([]);
    status.sweep(T + 5001);
    status.sweep(T + 9000);
    expect(status.stale).toEqual([speed]);
    status.seen(speed, T + 9500);
    status.sweep(T + 10_000);
    expect(status.stale).toEqual([]);
    status.sweep(T + 20_000);
    status.remove(speed, T + 20_000);
    expect(status.stale).toEqual([]);
    expect(said).toEqual([
      ['kinetic.speed', true, T + 5001],
      ['kinetic.speed', false, T + 10_000],
      ['kinetic.speed', true, T + 20_000],
    ]);
  });
});
