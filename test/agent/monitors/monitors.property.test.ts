/** Compares the monitors of the agent with a naive implementation of docs/monitors.md. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { dataOf } from '../../../protocol/schema/monitor/data.ts';
import { runs } from '../../rig/runs.ts';
import { history, live } from './histories.ts';
import { expected } from './reference.ts';
import type { Told } from './reference-world.ts';
import { MonitorRig } from './rig.ts';

const RUNS = runs(200, 2_500);

function told({ monitorId, at, refresh, triggers = [], values = [] }: MonitorEvent): Told {
  return {
    monitorId,
    at,
    refresh,
    triggers,
    values: values.map((told) => {
      const { literal, alerts, collision, previous } = told;
      const value =
        collision === undefined ? (alerts?.map(({ id }) => id).join(' ') ?? literal) : `collision ${collision.id}`;
      return `${dataOf(told)} = ${value}${previous === undefined ? '' : ` from ${previous}`}`;
    }),
  };
}

describe('monitors', () => {
  test(
    'random histories produce the same events as the naive implementation, with and without restarts',
    () => {
      let events = 0;
      fc.assert(
        fc.property(history, (lived) => {
          const rig = new MonitorRig();
          live(rig, lived);
          expect(rig.faults).toEqual([]);
          expect(rig.events.map(told)).toEqual(expected(rig.history));
          const ids = rig.events.map(({ id }) => id.split('-')[1]);
          expect(new Set(ids).size).toBe(ids.length);
          events += ids.length;
        }),
        { numRuns: RUNS },
      );
      // Histories without events would prove nothing.
      expect(events).toBeGreaterThan(RUNS);
    },
    Math.max(60_000, RUNS * 60),
  );
});
