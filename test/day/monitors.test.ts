/** Monitor events of the car during the scripted day. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import { readingsFromTelemetry } from '../../protocol/schema/telemetry.ts';
import { type DayOutcome, monitors, wholeDay } from '../rig/day-run.ts';
import { eventsIn, messagesOf, recordsOf, timeOf } from './records.ts';
import * as truth from './truth.ts';

let day: DayOutcome;

beforeAll(async () => {
  ({ day } = await wholeDay());
}, 300_000);

const eventsOf = (monitor: string): MonitorEvent[] => eventsIn(day).filter(({ monitorId }) => monitorId === monitor);
const told = (monitor: string): MonitorEvent[] => eventsOf(monitor).filter(({ complement }) => !complement);

describe('the monitors of the day', () => {
  test('the cloud gets the list of monitors', () => {
    const lists = messagesOf(day).flatMap(({ message }) => (message.kind === 'monitor' ? [message.body] : []));
    expect(lists.at(-1)?.monitors.map(({ monitorId }) => monitorId)).toEqual(Object.keys(monitors));
    expect(lists.map(({ version }) => version)).toEqual([...lists].map(({ version }) => version).sort((a, b) => a - b));
  });

  test('each end of a trip is an event with its id and the trip', () => {
    const trips = recordsOf(day, 'trip').filter(({ done }) => done);
    expect(trips).toHaveLength(truth.trips.length);
    expect(told('trips').map(({ values }) => values?.[0]?.literal)).toEqual(trips.map(({ id }) => id));
    for (const { extensions } of told('trips')) {
      expect(extensions?.find(({ type }) => type === 'vehicle.trip')?.trip?.done).toBe(true);
    }
  });

  test('the theft and the collision are one event each, at the right time', () => {
    expect(told('theft').map(({ at }) => Math.abs(timeOf(at) - truth.theft.from) <= 2_000)).toEqual([true]);
    expect(told('crash').map(({ at }) => Math.abs(timeOf(at) - truth.collision.at) <= 2_000)).toEqual([true]);
    expect(told('crash')[0]?.values?.[0]?.collision?.id).toBe(recordsOf(day, 'collision')[0]?.id);
  });

  test('fast driving is an event with the seconds before and after it', () => {
    const fast = told('fast');
    expect(fast.length).toBeGreaterThan(0);
    for (const { at, values, telemetry } of fast) {
      expect(Number(values?.[0]?.literal)).toBeGreaterThan(40);
      const before = telemetry === undefined ? [] : readingsFromTelemetry(telemetry);
      expect(before.some(({ slot }) => slot.path === 'kinetic.speed')).toBe(true);
      expect(before.every((reading) => reading.at <= at && reading.at >= at - 5_000)).toBe(true);
    }
    const complements = eventsOf('fast').filter(({ complement }) => complement);
    expect(complements.map(({ id }) => id)).toEqual(fast.map(({ id }) => id));
  });
});
