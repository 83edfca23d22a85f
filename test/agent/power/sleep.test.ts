/**
 * Reasons that wake a sleeping unit, and frames that it sends. Commands, ledger, schedule and power states are real.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatusReader } from '../../../agent/model/status.ts';
import { PowerStates } from '../../../agent/power/power.ts';
import type { CommandBodyKind } from '../../../protocol/command.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { carOf, commandOf, signed } from '../remotes/rig.ts';

const { power: rules } = agentSettings();
const { standbyFor, busSilentAfter } = rules;
const MINUTE = 60_000;
/** Interval between ticks of the unit, ms. */
const TICK = 1_000;
const SLEEPING_TICK = 600_000;

interface Put {
  readonly action: string;
  readonly state: string;
  /** Whether the bus was active within the last seconds. */
  readonly awake: boolean;
  /** Latest state of a command. */
  readonly told: string | undefined;
}

function sleeper() {
  // Noon in Paris, a Thursday.
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 11));
  const frames: Put[] = [];
  /** The car wakes up when it is asked to. */
  const car = { answers: true, talks: false };
  const status: StatusReader = {
    value: (slot) => unit.status.value(slot),
    fresh: (slot, now) => unit.status.fresh(slot, now),
    current: (slot, now) => unit.status.current(slot, now),
    contents: () => unit.status.contents(),
  };
  const put = (action: string): void => {
    frames.push({ action, state: power.state, awake: power.awake(), told: unit.reports.at(-1)?.status });
  };
  const power: PowerStates = new PowerStates({
    clock,
    rules,
    status,
    log: new MemoryLog(),
    actuator: {
      actions: new Set(['wakeUp.wake']),
      actuate: async (action) => {
        put(action);
        if (car.answers) clock.after(300, hear);
      },
    },
    busy: () => false,
    changed: () => {
      unit.remotes.rested();
      arm();
    },
  });
  const unit = carOf({ clock, power, actuate: async (action) => put(action) });
  const hear = (): void => {
    power.heard();
    unit.repeat();
  };
  let cancel: () => void = () => undefined;
  const arm = (): void => {
    cancel();
    cancel = clock.after(power.asleep() ? SLEEPING_TICK : TICK, () => {
      if (car.talks) hear();
      power.look();
      arm();
    });
  };
  arm();
  const pass = (ms: number): Promise<void> => clock.settle(ms, Math.max(1_000, ms / 60));
  /** Sends a command and advances time until it has ended, including the time for waking the car. */
  const order = async (kind: CommandBodyKind, body: object): Promise<void> => {
    let over = false;
    const done = unit.remotes.intake.receive(signed(commandOf(clock, kind, body))).finally(() => {
      over = true;
    });
    while (!over) await clock.settle(500, 100);
    await done;
  };
  return { clock, power, unit, car, frames, hear, pass, order };
}

/** A unit that is asleep after the usual time. */
async function asleep() {
  const made = sleeper();
  await made.unit.remotes.resume();
  await made.pass(standbyFor + busSilentAfter + 2 * TICK);
  expect(made.power.state).toBe('asleep');
  return made;
}

describe('wake-up reasons', () => {
  test('a car frame, such as after plugging in a cable, wakes the unit at once', async () => {
    const { power, hear, frames } = await asleep();
    hear();
    expect([power.state, power.awake(), power.cost.wakeUps]).toEqual(['standby', true, 1]);
    expect(frames).toEqual([]);
  });

  test('a command wakes the unit, wakes the car with one frame and is then carried out', async () => {
    const { power, unit, frames } = await asleep();
    expect(await unit.order('Doors', { state: 'Locked' })).toEqual([
      'Accepted',
      'WakingUpVehicle',
      'CheckingVehicle',
      'SentToVehicle',
      'Success',
    ]);
    expect(frames.map(({ action }) => action)).toEqual(['wakeUp.wake', 'doors.lock']);
    expect(power.cost).toMatchObject({ wakeUps: 0, wokenByMessages: 1 });
  });

  test('a program wakes the unit on time although it ticks seldom', async () => {
    const { clock, power, unit, frames, pass } = await asleep();
    await unit.order('ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT13H' } });
    await pass(10 * MINUTE);
    expect(power.state).toBe('asleep');
    frames.length = 0;
    const due = Date.UTC(2026, 0, 1, 12);
    await pass(due - 1_000 - clock.now());
    expect([power.state, frames]).toEqual(['asleep', []]);
    await clock.settle(4_000, 100);
    expect(power.cost.wokenByPrograms).toBe(1);
    expect(frames.map(({ action }) => action)).toEqual(['wakeUp.wake', 'charging.start']);
  });

  test('a message from an unknown sender does not wake the unit', async () => {
    const { power, unit } = await asleep();
    await unit.give(Uint8Array.of(1, 2, 3));
    expect(power.state).toBe('asleep');
  });

  test('with a low 12 V battery a command is refused and the car is not woken', async () => {
    const { unit, frames } = await asleep();
    unit.see('battery.voltage', rules.battery - 1);
    expect(await unit.order('WakeUp', {})).toEqual(['NotPossibleDueToVehicleBatteryLevel']);
    expect(await unit.order('Doors', { state: 'Locked' })).toEqual(['NotPossibleDueToVehicleBatteryLevel']);
    expect(frames).toEqual([]);
  });
});

test('the schedule of a sleeping unit sets an alarm only for the next due entry', async () => {
  const { clock, pass } = await asleep();
  // The timers of the power tick and of the schedule, ten minutes apart instead of ten seconds.
  expect(clock.pending).toBe(2);
  let fired = 0;
  const { after } = clock;
  clock.after = (delay, due) =>
    after.call(clock, delay, () => {
      fired++;
      due();
    });
  await pass(60 * MINUTE);
  expect(fired).toBeLessThanOrEqual(12);
});

test('a sleeping unit sends only the wake-up frame, and only for an accepted command', async () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 500, max: 20 * MINUTE }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('lock', 'unlock', 'lights', 'wake', 'program') }) },
    fc.record({ kind: fc.constantFrom('heard', 'talks', 'silent', 'answers', 'deaf') }),
    fc.record({ kind: fc.constant('battery' as const), charge: fc.integer({ min: 0, max: 100 }) }),
  );
  let slept = 0;
  let woken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const { power, unit, car, frames, hear, pass, order } = sleeper();
      await unit.remotes.resume();
      for (const next of steps) {
        if ('ms' in next) await pass(next.ms);
        else if ('charge' in next) unit.see('battery.voltage', next.charge);
        else if (next.kind === 'lock' || next.kind === 'unlock') {
          await order('Doors', { state: next.kind === 'lock' ? 'Locked' : 'Unlocked' });
        } else if (next.kind === 'lights') await order('Lights', { on: true });
        else if (next.kind === 'wake') await order('WakeUp', {});
        else if (next.kind === 'program') {
          await order('ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT12H30M' } });
        } else if (next.kind === 'heard') hear();
        else if (next.kind === 'answers' || next.kind === 'deaf') car.answers = next.kind === 'answers';
        else car.talks = next.kind === 'talks';
        if (power.asleep()) slept++;
      }
      await pass(2 * MINUTE);
      for (const { action, state, awake, told } of frames) {
        expect(state).not.toBe('asleep');
        // A silent bus gets one frame only, and only after a command reported that it wakes the car.
        if (action === 'wakeUp.wake') expect([awake, told]).toEqual([false, 'WakingUpVehicle']);
        else expect(state).not.toBe('asleep');
        if (action === 'wakeUp.wake') woken++;
      }
    }),
    { numRuns: 40 },
  );
  // The histories contained enough sleep.
  expect(slept).toBeGreaterThan(20);
  expect(woken).toBeGreaterThan(10);
}, 120_000);
