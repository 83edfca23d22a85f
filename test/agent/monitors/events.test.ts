import { describe, expect, test } from 'vitest';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { telemetryJson } from '../../../protocol/schema/telemetry.ts';
import { MonitorRig } from './rig.ts';
import { fast, placeOf, rule, SECOND, T, told } from './rules.ts';

describe('content of events', () => {
  const everything = [
    'doorsState',
    'status',
    'maintenance',
    'position',
    'telemetry.vehicle.alarm.status',
    'alerts',
    'collisions',
    'trip',
    'stolen',
    'alarm',
  ].map((name) => `vehicle.${name}`);

  test('an event contains the requested data in addition to the values', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast], 'fast', { extendedEventParam: everything }), T);
    rig.locate(48, 2, T);
    rig.give('doorsState.lockedStates', ['Locked'], T);
    rig.give('alarm.status.activation', 'Active', T);
    rig.give('alarm.trigger.type', 'NoBreakIn', T);
    rig.give('alarm.trigger.startAt', T, T);
    rig.record('trip', { createdAt: T, id: 'a-1', startPosition: placeOf(rig) });
    rig.record('alert', { createdAt: T, id: 'a-2', active: true, type: 'EngineFault', startedAt: T });
    rig.give('kinetic.speed', 140, T + SECOND);
    const content = Object.fromEntries(rig.events[0]?.extensions?.map(({ type, ...rest }) => [type, rest]) ?? []);
    expect(content['vehicle.doorsState']).toEqual({
      status: { doorsState: { createdAt: T, lockedStates: ['Locked'] } },
    });
    expect(content['vehicle.position']?.status?.lastPosition?.geometry.coordinates).toEqual([2, 48]);
    expect(content['vehicle.telemetry']).toEqual({
      section: 'vehicle.alarm.status',
      status: { alarm: { status: { createdAt: T, activation: 'Active' } } },
    });
    expect(content['vehicle.status']?.status?.kinetic?.speed).toBe(140);
    expect(content['vehicle.trip']?.trip?.startPosition?.geometry.coordinates).toEqual([2, 48]);
    expect(content['vehicle.alerts']?.alerts).toHaveLength(1);
    expect(content['vehicle.stolen']).toEqual({});
  });

  test('an event shows no position that privacy hides, not even an earlier one, and nothing under Full privacy', () => {
    const rig = new MonitorRig();
    const privacy = { name: 'p', data: { data: 'privacy.state', op: 'onChange' } };
    rig.put('m', rule([privacy], 'p', { extendedEventParam: everything }), T);
    rig.locate(48, 2, T);
    const place = placeOf(rig);
    rig.record('trip', { createdAt: T, id: 'a-1', startPosition: place });
    rig.record('alert', {
      createdAt: T,
      id: 'a-2',
      active: true,
      type: 'EngineFault',
      startedAt: T,
      startPosition: place,
    });
    rig.give('privacy.state', 'None', T);
    rig.give('privacy.state', 'Geolocation', T + SECOND);
    rig.give('privacy.state', 'Full', T + 2 * SECOND);
    const [some, none] = rig.events.map(({ extensions }) => JSON.stringify(extensions));
    expect(some).toContain('EngineFault');
    expect(some).not.toContain('coordinates');
    expect(none).not.toMatch(/EngineFault|coordinates|a-1/);
    expect(rig.events.map(({ values }) => values?.[0]?.literal)).toEqual(['Geolocation', 'Full']);
  });

  test('an event of a stolen car shows its data under Full privacy', () => {
    const rig = new MonitorRig();
    rig.give('privacy.state', 'Full', T);
    const stolen = { name: 's', data: { data: 'stolen.state', op: 'equalsTo', value: ['true'] } };
    rig.put('m', rule([stolen], 's', { extendedEventParam: ['vehicle.stolen'] }), T);
    rig.record('stolen', { createdAt: T, id: 'a-1', state: true, startedAt: T, origin: 'Declared' });
    expect(told(rig)).toEqual(['0 s']);
    expect(rig.events[0]?.extensions?.[0]?.stolen?.id).toBe('a-1');
  });

  test('an event contains the changes before it, and a complement with those after it', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast], 'fast', { context: { before: 2, after: 3 } }), T);
    for (let s = 0; s <= 10; s++) {
      rig.give('kinetic.speed', s === 5 ? 140 : 100 + s, T + s * SECOND);
      rig.tick(T + s * SECOND + 100);
      if (s === 6) rig.restart(T + s * SECOND);
    }
    const series = (event: MonitorEvent | undefined): unknown =>
      event?.telemetry === undefined
        ? undefined
        : telemetryJson(event.telemetry).series.map(({ path, at, values }) => [
            path,
            at.map((t) => (t - T) / SECOND),
            values,
          ]);
    expect(rig.events).toHaveLength(2);
    expect(series(rig.events[0])).toEqual([['kinetic.speed', [3, 4, 5], [103, 104, 140]]]);
    // The ring was lost in the power cut.
    expect(series(rig.events[1])).toEqual([['kinetic.speed', [7, 8], [107, 108]]]);
    expect(rig.events[1]).toMatchObject({ id: rig.events[0]?.id, at: rig.events[0]?.at, complement: true });
  });
});
