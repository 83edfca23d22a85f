import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AlertRecorder } from '../../../agent/recorders/alert.ts';
import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { recorderRig } from './rig.ts';

const T = Date.UTC(2026, 3, 1);
const LAMP = 'alerts.FuelLevelLow';
const lamp = channelByPath.get(LAMP) as Channel;
const rules = {
  default: { onAfter: 3000, offAfter: 10_000 },
  FuelLevelLow: { onAfter: 1000, offAfter: 5000, severity: 'Warning' },
} as const;

function setUp(trip?: string) {
  const rig = recorderRig([LAMP, 'alerts.EngineFault', 'privacy.state']);
  const { status, records } = rig;
  const make = (): AlertRecorder => new AlertRecorder({ status, records, trips: { current: trip }, rules });
  const recorder = make();
  rig.connect(recorder);
  return { ...rig, recorder, make, alerts: () => rig.of('alert') };
}

describe('alert recorder', () => {
  test('an alert begins after its lamp was lit for long enough and ends after it was dark for long enough', () => {
    const { give, locate, recorder, alerts } = setUp('abc-1');
    locate(48, 2, T - 1000);
    give(LAMP, true, T);
    recorder.tick(T + 900);
    expect(alerts()).toEqual([]);
    recorder.tick(T + 1000);
    const [begun] = alerts();
    expect(begun).toMatchObject({
      active: true,
      type: 'FuelLevelLow',
      severity: 'Warning',
      startedAt: T,
      tid: 'abc-1',
    });
    expect(begun?.startPosition?.geometry.coordinates).toEqual([2, 48]);
    give(LAMP, false, T + 60_000);
    recorder.tick(T + 64_999);
    expect(alerts()).toHaveLength(1);
    recorder.tick(T + 65_000);
    expect(alerts()[1]).toMatchObject({ id: begun?.id, active: false, endAt: T + 60_000, startedAt: T });
  });

  test('a flickering lamp is one alert, and a lamp test is none', () => {
    const { give, recorder, alerts } = setUp();
    give('alerts.EngineFault', true, T);
    give('alerts.EngineFault', false, T + 2500);
    for (let at = T; at < T + 60_000; at += 2000) {
      give(LAMP, true, at);
      recorder.tick(at + 1000);
      give(LAMP, false, at + 1000);
    }
    recorder.tick(T + 120_000);
    expect(alerts().map(({ type, active }) => [type, active])).toEqual([
      ['FuelLevelLow', true],
      ['FuelLevelLow', false],
    ]);
  });

  test('a lamp lit long enough between two ticks is an alert', () => {
    const { give, recorder, alerts } = setUp();
    give(LAMP, true, T);
    give(LAMP, false, T + 1500);
    recorder.tick(T + 6500);
    expect(alerts().map(({ startedAt, endAt }) => [startedAt, endAt])).toEqual([
      [T, undefined],
      [T, T + 1500],
    ]);
  });

  test('Full privacy records no alert, and one that is still active afterwards is recorded then', () => {
    const { give, recorder, alerts } = setUp();
    give(LAMP, true, T);
    recorder.tick(T + 2000);
    give('privacy.state', 'Full', T + 3000);
    give(LAMP, false, T + 4000);
    give('alerts.EngineFault', true, T + 4000);
    recorder.tick(T + 100_000);
    expect(alerts()).toHaveLength(1);
    give('privacy.state', 'None', T + 200_000);
    give(LAMP, false, T + 201_000);
    give('alerts.EngineFault', true, T + 201_000);
    recorder.tick(T + 210_000);
    expect(
      alerts()
        .slice(1)
        .map(({ type, active, startedAt, endAt }) => [type, active, startedAt, endAt]),
    ).toEqual([
      ['FuelLevelLow', false, T, T + 201_000],
      ['EngineFault', true, T + 201_000, undefined],
    ]);
  });

  test('a restart at any time produces the same alerts as none', () => {
    const events = fc.array(fc.tuple(fc.integer({ min: 1, max: 9000 }), fc.boolean()), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(events, fc.nat(40), (steps, cut) => {
        const run = (cutAt: number) => {
          const rig = setUp();
          let { recorder } = rig;
          let at = T;
          for (const [n, [wait, lit]] of steps.entries()) {
            if (n === cutAt) {
              const kept = structuredClone(recorder.state());
              recorder = rig.make();
              recorder.restore(kept);
            }
            for (const next = at + wait; at < next; at = Math.min(next, at + 1000)) recorder.tick(at);
            recorder.channel(lamp, lit, at);
          }
          recorder.tick(at + 100_000);
          return rig.alerts();
        };
        expect(run(cut % steps.length)).toEqual(run(-1));
      }),
    );
  });

  test('each alert ends after it begins, and alerts of one type never overlap', () => {
    const events = fc.array(fc.tuple(fc.integer({ min: -20_000, max: 20_000 }), fc.boolean()), { maxLength: 60 });
    fc.assert(
      fc.property(events, (steps) => {
        const { give, recorder, alerts } = setUp();
        let at = T;
        for (const [wait, lit] of steps) {
          at += wait;
          give(LAMP, lit, at);
          recorder.tick(at + 500);
        }
        let open: string | undefined;
        for (const { id, active, startedAt, endAt } of alerts()) {
          if (active) expect(open).toBeUndefined();
          else {
            expect(id).toBe(open);
            expect(endAt).toBeGreaterThanOrEqual(startedAt);
          }
          open = active ? id : undefined;
        }
      }),
    );
  });
});
