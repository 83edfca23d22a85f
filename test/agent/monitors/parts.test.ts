/** Single parts of monitors, for inputs that random histories contain too seldom. */

import { describe, expect, test } from 'vitest';
import { Status } from '../../../agent/model/status.ts';
import { MonitorContext } from '../../../agent/monitors/context.ts';
import { Facts } from '../../../agent/monitors/facts.ts';
import { recordTriggersOf, watchedByKind } from '../../../agent/monitors/record-triggers.ts';
import type { RunningTrigger } from '../../../agent/monitors/running.ts';
import { literal, Sources, sameValue, sourceValue } from '../../../agent/monitors/sources.ts';
import { readKept } from '../../../agent/monitors/state.ts';
import { defined } from '../../../protocol/defined.ts';
import type { Alert } from '../../../protocol/schema/alert.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import type { Body } from '../../../protocol/schema/message.ts';
import { compileMonitor } from '../../../protocol/schema/monitor.ts';
import { type Telemetry, telemetryJson } from '../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import { MonitorRig } from './rig.ts';
import { fast, rule, SECOND, T, told } from './rules.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const speed = slot('kinetic.speed');

describe('stored state of monitors', () => {
  const trigger = { main: 0, truth: 1, used: 2 };
  const whole = { satisfied: true, triggers: [trigger, { ...trigger, from: 'Stopped', due: T }], due: T };

  test('the stored state of a trigger is restored', () => {
    expect(readKept(whole, 2)).toEqual(whole);
  });

  test.each([
    undefined,
    {},
    { satisfied: true },
    { triggers: whole.triggers },
    { ...whole, satisfied: 1 },
    { ...whole, triggers: { length: 2 } },
    { ...whole, triggers: [trigger] },
    ...['main', 'truth', 'used'].flatMap((member) =>
      [-1, 3, 0.5, '1', undefined].map((value) => ({ ...whole, triggers: [trigger, { ...trigger, [member]: value }] })),
    ),
  ])('an invalid stored state is refused: %j', (state) => {
    expect(() => readKept(state, 2)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
  });

  test('a restored trigger continues its wait and keeps its previous value', () => {
    const rig = new MonitorRig();
    const started = { data: 'vehicle.powertrain.status', op: 'equalsTo', value: ['Running'] };
    const after = { name: 'run', data: { ...started, previous: { op: 'equalsTo', value: ['Stopped'] } } };
    rig.put('wait', rule([{ ...fast, holdFor: 10 }]), T);
    rig.put('from', rule([after], 'run', { subscribeParam: { refreshEvent: 60 } }), T);
    rig.give('kinetic.speed', 140, T);
    rig.give('powertrain.status', 'Stopped', T);
    rig.give('powertrain.status', 'Running', T + SECOND);
    rig.restart(T + 2 * SECOND);
    for (let s = 3; s <= 65; s++) rig.tick(T + s * SECOND);
    expect(told(rig)).toEqual(['1 run', '10 fast', '61r run']);
    expect(rig.events[2]?.values?.[0]).toMatchObject({ literal: 'Running', previous: 'Stopped' });
  });
});

describe('context of events', () => {
  const event = (at: number): MonitorEvent => ({ id: `e${at - T}`, monitorId: 'm', at, refresh: false });
  const values = (telemetry: Telemetry | undefined): unknown =>
    telemetry && telemetryJson(telemetry).series.map(({ path, at, values: its }) => [path, at.map((t) => t - T), its]);

  test('the ring of readings exists only while a monitor needs it or a complement is due', () => {
    const context = new MonitorContext();
    context.ring?.take(speed, 10, T);
    context.keep(true);
    expect(context.before(T + 9, 10)).toBeUndefined();
    context.ring?.take(speed, 20, T + 1);
    context.keep(true);
    expect(values(context.before(T + 9, 10))).toEqual([['kinetic.speed', [1], [20]]]);
    expect(context.before(T + 9, 0)).toBeUndefined();
    expect(context.before(T + 1, 0)).toBeUndefined();
    context.expect(event(T + 1), 10);
    context.keep(false);
    context.ring?.take(speed, 30, T + 2);
    expect(context.tick(T + 11).map(({ telemetry }) => values(telemetry))).toEqual([[['kinetic.speed', [2], [30]]]]);
    context.keep(false);
    context.ring?.take(speed, 40, T + 12);
    context.keep(true);
    expect(context.before(T + 12, 10)).toBeUndefined();
  });

  test('without a ring an event has no context, and nothing fails', () => {
    const context = new MonitorContext();
    context.expect(event(T), 10);
    expect(context.before(T, 10)).toBeUndefined();
    expect(context.tick(T + 10)).toEqual([]);
  });

  test('the complement follows when its time has passed, with readings after the event up to its end', () => {
    const context = new MonitorContext();
    context.keep(true);
    context.expect(event(T), 10);
    context.expect(event(T), 0);
    for (const at of [0, 1]) context.ring?.take(speed, at, T + at);
    context.altered = false;
    expect([context.tick(T + 9), context.altered]).toEqual([[], false]);
    for (const at of [10, 11]) context.ring?.take(speed, at, T + at);
    const [rest, ...more] = context.tick(T + 12);
    expect(more).toEqual([]);
    expect(rest).toMatchObject({ id: 'e0', monitorId: 'm', at: T, refresh: false, complement: true });
    expect(values(rest?.telemetry)).toEqual([['kinetic.speed', [1, 10], [1, 10]]]);
    expect(context.altered).toBe(true);
    context.altered = false;
    expect([context.tick(T + 13), context.altered, context.state()]).toEqual([[], false, []]);
  });

  test('the context ends at its end time, and at once when the clock is set back', () => {
    for (const [now, isComplete] of [
      [T, false],
      [T + 9, false],
      [T + 10, true],
      [T - 1, true],
    ] as const) {
      const context = new MonitorContext();
      context.keep(true);
      context.expect(event(T), 10);
      context.tick(now);
      expect([now - T, (context.state() as unknown[]).length === 0]).toEqual([now - T, isComplete]);
    }
  });

  test('values that are no longer known are left out, and an empty context is omitted', () => {
    const context = new MonitorContext();
    context.keep(true);
    context.ring?.take(speed, 20, T + 1);
    context.ring?.forget(speed);
    context.expect(event(T), 10);
    expect(context.before(T + 9, 10)).toBeUndefined();
    expect(context.tick(T + 10)).toEqual([]);
  });

  test('the context moves with a clock correction, and is restored after a start', () => {
    const context = new MonitorContext();
    context.expect(event(T), 10);
    context.altered = false;
    context.correct(1000);
    expect(context.altered).toBe(true);
    const again = new MonitorContext();
    again.restore(context.state());
    expect(again.state()).toEqual([{ id: 'e0', monitorId: 'm', from: T + 1000, until: T + 1010 }]);
    const none = new MonitorContext();
    none.correct(1);
    expect(none.altered).toBe(false);
    expect(() => none.restore({})).toThrow(expect.objectContaining({ code: 'input.malformed' }));
  });
});

describe('facts of records', () => {
  const alert = (id: string, active: boolean): Alert => ({
    createdAt: T,
    id,
    active,
    type: 'EngineFault',
    startedAt: T,
  });

  test('an alert ends with an inactive version of the active record, and with no other', () => {
    const facts = new Facts(new Status());
    expect(facts.ending(alert('a-1', false))).toBeUndefined();
    facts.note('alert', alert('a-1', true), undefined);
    expect([facts.ending(alert('a-1', true)), facts.ending(alert('a-0', false))]).toEqual([undefined, undefined]);
    expect(facts.ending(alert('a-1', false))?.id).toBe('a-1');
    facts.note('alert', alert('a-0', false), alert('a-0', true));
    expect(facts.alerts.map(({ id }) => id)).toEqual(['a-1']);
    facts.note('alert', alert('a-1', false), alert('a-1', true));
    expect(facts.alerts).toEqual([]);
  });

  test('a corrected record is the newest one only if it was before', () => {
    const facts = new Facts(new Status());
    const trip = (id: string, at: number): Body<'trip'> => ({ createdAt: at, id });
    facts.note('trip', trip('a-1', T), undefined);
    facts.note('trip', trip('a-2', T), undefined);
    facts.note('trip', trip('a-1', T + 1), trip('a-1', T));
    expect(facts.newest('trip')).toEqual(trip('a-2', T));
    facts.note('trip', trip('a-2', T + 1), trip('a-2', T));
    expect(facts.newest('trip')).toEqual(trip('a-2', T + 1));
    expect(facts.alerts).toEqual([]);
    const other = new Facts(new Status());
    other.note('trip', trip('a-1', T + 1), trip('a-1', T));
    expect(other.newest('trip')?.id).toBe('a-1');
  });

  test('a collision is stored without its measurements, and other records completely', () => {
    const facts = new Facts(new Status());
    const pulse = { from: T, interval: 1, x: [1] } as unknown as NonNullable<Body<'collision'>['pulse']>;
    facts.note('collision', { createdAt: T, id: 'c', at: T, pulse } as Body<'collision'>, undefined);
    expect(facts.newest('collision')).toEqual({ createdAt: T, id: 'c', at: T });
    facts.note('trip', { createdAt: T, id: 't', pulse } as unknown as Body<'trip'>, undefined);
    expect(facts.newest('trip')).toHaveProperty('pulse');
  });

  test('the facts of records are restored, and an invalid state is refused', () => {
    const facts = new Facts(new Status());
    facts.note('alert', alert('a-1', true), undefined);
    const again = new Facts(new Status());
    again.restore(facts.state());
    expect([again.alerts, again.newest('alert')?.id]).toEqual([facts.alerts, 'a-1']);
    for (const state of [5, {}, { newest: {} }, { alerts: [] }, { newest: 5, alerts: [] }, { newest: {}, alerts: 5 }]) {
      expect(() => again.restore(state)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
    }
  });

  test('a trip fires its triggers at its start and its end, with the data it has', () => {
    const trip = { createdAt: T, id: 't' };
    const names = (record: Body<'trip'>, previous?: Body<'trip'>) => [...recordTriggersOf('trip', record, previous)];
    expect(names(trip)).toEqual([
      ['vehicle.trip', 't'],
      ['vehicle.trip.start', 't'],
    ]);
    expect(names(trip, trip)).toEqual([]);
    const done = { ...trip, done: true };
    expect(names(done, done)).toEqual([]);
    expect(names(done, trip).map(([name]) => name)).toEqual([
      'vehicle.trip',
      'vehicle.trip.stop',
      'vehicle.trip.state',
    ]);
    expect(names({ ...done, duration: 60, distance: 2 }, trip)).toEqual(
      expect.arrayContaining([
        ['vehicle.trip.duration', 60],
        ['vehicle.trip.distance', 2],
      ]),
    );
    expect(names({ ...done, distance: 2 }).map(([name]) => name)).not.toContain('vehicle.trip.duration');
    expect(names(done).map(([name]) => name)).toContain('vehicle.trip.start');
  });

  test('a collision fires when more sides or severities become known', () => {
    const at = (details: object[] | undefined): Body<'collision'> =>
      ({ createdAt: T, id: 'c', at: T, ...defined({ details }) }) as Body<'collision'>;
    const names = (now: object[] | undefined, before?: object[]) =>
      Object.fromEntries(recordTriggersOf('collision', at(now), before && at(before)));
    expect([names(undefined), names([]), names([{ side: 'Front' }], [{ side: 'Front' }])]).toEqual([{}, {}, {}]);
    expect(names([{ side: 'Front' }, { side: 'Rear', severity: 'Major' }], [{ side: 'Front' }])).toEqual({
      'vehicle.collision.side': ['Front', 'Rear'],
      'vehicle.collision.severity': ['Major'],
    });
    expect(recordTriggersOf('alert', alert('a', true), undefined).size).toBe(0);
    expect(watchedByKind('collision')).toEqual([]);
    expect(watchedByKind('alert')).toEqual(['vehicle.alert']);
  });
});

describe('sources of triggers', () => {
  const triggerOf = (value: string): RunningTrigger => {
    const { triggers } = compileMonitor(rule([{ name: 't', data: { ...fast.data, value: [value] } }]));
    return { compiled: triggers[0] } as unknown as RunningTrigger;
  };

  test('a source exists while a trigger watches it, and a slot lists the sources that depend on it', () => {
    const status = new Status();
    const sources = new Sources(status, new Facts(status));
    const [one, two, other] = [triggerOf('1'), triggerOf('2'), triggerOf('3')];
    const source = sources.watch('vehicle.kinetic.speed', one);
    expect(sources.watch('vehicle.kinetic.speed', two)).toBe(source);
    const used = sources.watch('used', other);
    expect(sources.bySlot[speed.index]).toEqual([source, used]);
    expect(source.anew).toBe(true);
    source.thresholds.stand(0);
    source.anew = false;
    sources.unwatch(source, one);
    expect([source.triggers, source.anew, sources.watched('vehicle.kinetic.speed')]).toEqual([[two], true, source]);
    source.thresholds.stand(0);
    expect(source.thresholds.cross(5)).toEqual([two]);
    sources.unwatch(source, two);
    expect(sources.bySlot[speed.index]).toEqual([used]);
    expect([sources.watched('vehicle.kinetic.speed'), sources.watched('used')]).toEqual([undefined, used]);
    sources.unwatch(used, other);
    expect([sources.bySlot[speed.index], [...sources.all]]).toEqual([undefined, []]);
    expect(sources.bySlot).toHaveLength(new Set(slotByPath.values()).size);
  });

  test('maintenance and alert sources have no value under Full privacy', () => {
    const status = new Status();
    const facts = new Facts(status);
    const sources = new Sources(status, facts);
    const names = [
      'vehicle.maintenance.daysBeforeMaintenance',
      'vehicle.maintenance.mileageBeforeMaintenance',
      'vehicle.alert',
    ] as const;
    const all = () => names.map((name) => sources.value(name));
    expect(all()).toEqual([undefined, undefined, []]);
    const due = { createdAt: T, id: 'm', daysBeforeMaintenance: 3, mileageBeforeMaintenance: 4 };
    facts.note('maintenance', due, undefined);
    facts.note('alert', { createdAt: T, id: 'a', active: true, type: 'EngineFault', startedAt: T }, undefined);
    for (const [privacy, seen] of [
      ['None', [3, 4, ['EngineFault']]],
      ['Geolocation', [3, 4, ['EngineFault']]],
      ['Full', [undefined, undefined, undefined]],
    ] as const) {
      status.write(slot('privacy.state'), privacy, T);
      expect([privacy, all()]).toEqual([privacy, seen]);
    }
  });

  test('any sign of use means that the car is used, and without signs it is unknown', () => {
    for (const [path, value, used] of [
      ['kinetic.moving', true, 'true'],
      ['kinetic.moving', false, 'false'],
      ['kinetic.speed', 1, 'true'],
      ['kinetic.speed', 0, 'false'],
      ['ignition.type', 'Start', 'true'],
      ['powertrain.status', 'Stopped', 'false'],
    ] as const) {
      const status = new Status();
      const sources = new Sources(status, new Facts(status));
      expect(sources.value('used')).toBeUndefined();
      status.write(slot(path), value, T);
      expect([path, sources.value('used')]).toEqual([path, used]);
    }
  });

  test('slot values are compared and written as text, number or names', () => {
    expect([1, 'a', true, ['a', 'b'], undefined].map(sourceValue)).toEqual([1, 'a', 'true', ['a', 'b'], undefined]);
    expect([sameValue(1, 1), sameValue('1', 1), sameValue(['a'], ['a']), sameValue(['a'], ['b'])]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([sameValue(['a'], ['a', 'b']), sameValue(undefined, undefined), sameValue(['a'], 'a')]).toEqual([
      false,
      true,
      false,
    ]);
    expect([literal(['a', 'b']), literal(1.5)]).toEqual(['a,b', '1.5']);
  });
});
