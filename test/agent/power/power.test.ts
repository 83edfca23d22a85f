import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Status } from '../../../agent/model/status.ts';
import { type PowerState, PowerStates } from '../../../agent/power/power.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { type Slot, type SlotValue, slotByPath } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

const { power: rules } = agentSettings();
const { busSilentAfter, standbyFor, lowBatteryStandbyFor, battery, wakeTimeout } = rules;

function unit(wakes?: (heard: () => void, clock: VirtualClock) => Promise<void>) {
  const clock = new VirtualClock();
  const status = new Status();
  const states: PowerState[] = [];
  const asked: string[] = [];
  const log = new MemoryLog();
  let open = false;
  let bytes = 0;
  const power: PowerStates = new PowerStates({
    clock,
    rules,
    status,
    log,
    actuator: {
      actions: new Set(wakes === undefined ? [] : ['wakeUp.wake']),
      actuate: async (action) => {
        asked.push(action);
        await wakes?.(() => power.heard(), clock);
      },
    },
    busy: () => open,
    traffic: () => bytes,
    changed: (state) => states.push(state),
  });
  const see = (path: string, value: SlotValue): void => status.write(slotByPath.get(path) as Slot, value, clock.now());
  /** Advances time by seconds in which the car sends frames, or not. */
  const pass = (seconds: number, talks: boolean): void => {
    for (let second = 0; second < seconds; second++) {
      if (talks) power.heard();
      clock.advance(1_000);
      power.look();
    }
  };
  return {
    clock,
    power,
    states,
    asked,
    log,
    see,
    pass,
    carry: (more: number) => {
      bytes += more;
    },
    open: (so: boolean) => {
      open = so;
    },
  };
}

describe('power states', () => {
  test('the unit is active in a car in use, stands by in a parked one, and sleeps after three minutes of silence', () => {
    const { power, states, see, pass } = unit();
    see('ignition.type', 'Start');
    pass(10, true);
    see('ignition.type', 'Stop');
    pass(10, true);
    expect(states).toEqual(['active', 'standby']);
    pass(standbyFor / 1_000 - 2, false);
    expect(power.state).toBe('standby');
    pass(3, false);
    expect(states).toEqual(['active', 'standby', 'asleep']);
    expect(power.awake()).toBe(false);
  });

  test('a frame wakes the unit at once, and the times and bytes of each state are counted', () => {
    const { power, states, pass, clock, carry } = unit();
    carry(5_000);
    pass(standbyFor / 1_000, false);
    expect(states).toEqual(['asleep']);
    const { awake } = power.cost;
    expect(awake).toBe(standbyFor / 1_000);
    const night = 8 * 3_600;
    clock.advance(night * 1_000);
    carry(1_920);
    const none = { wakeUps: 0, wokenByMessages: 0, wokenByPrograms: 0 };
    expect(power.cost).toEqual({ state: 'asleep', ...none, awake, asleep: night, sleepBytes: 1_920 });
    power.heard();
    expect([power.state, power.awake()]).toEqual(['standby', true]);
    clock.advance(2_000);
    carry(70_000);
    const sleep = { asleep: night, sleepBytes: 1_920 };
    expect(power.cost).toEqual({ state: 'standby', ...none, wakeUps: 1, awake: awake + 2, ...sleep });
    // A second sleep adds to the first.
    pass(standbyFor / 1_000 + busSilentAfter / 1_000, false);
    carry(80);
    clock.advance(60_000);
    expect(power.cost).toMatchObject({ state: 'asleep', wakeUps: 1, sleepBytes: 2_000 });
    expect(power.cost.awake + power.cost.asleep).toBe(clock.monotonic() / 1_000);
  });

  test('a scheduled program wakes the unit and is counted separately', () => {
    const { power, pass } = unit();
    pass(standbyFor / 1_000 + 1, false);
    power.stayAwake('program');
    power.stayAwake('program');
    expect(power.cost).toMatchObject({ state: 'standby', wakeUps: 0, wokenByMessages: 0, wokenByPrograms: 1 });
  });

  test('the unit sleeps after half a minute while the 12 V battery is low, and as usual once it is charged', () => {
    const { power, see, pass } = unit();
    see('battery.voltage', battery - 0.1);
    pass(1, true);
    pass(lowBatteryStandbyFor / 1_000 - 2, false);
    expect(power.state).toBe('standby');
    pass(3, false);
    expect(power.state).toBe('asleep');
    power.stayAwake();
    pass(lowBatteryStandbyFor / 1_000 - 1, false);
    expect(power.state).toBe('standby');
    pass(2, false);
    expect(power.state).toBe('asleep');
    see('battery.voltage', battery);
    power.stayAwake();
    pass(standbyFor / 1_000 - 2, false);
    expect(power.state).toBe('standby');
  });

  test('after a restart a sleeping unit stays asleep, and an awake one stays awake for the remaining time', () => {
    const before = unit();
    before.pass(60, false);
    const kept = new Map(before.power.states());
    const after = unit();
    after.clock.step(60_000);
    after.power.recall({ recall: (key) => kept.get(key) });
    after.pass(standbyFor / 1_000 - 62, false);
    expect(after.power.state).toBe('standby');
    after.pass(3, false);
    expect(after.power.state).toBe('asleep');
    const slept = new Map(after.power.states());
    const third = unit();
    third.power.recall({ recall: (key) => slept.get(key) });
    expect([third.power.state, third.states]).toEqual(['asleep', []]);
    third.clock.advance(10_000);
    expect(third.power.cost).toMatchObject({ awake: 0, asleep: 10 });
  });

  test('a message keeps the unit awake for three minutes although the car sleeps', () => {
    const { power, states, pass } = unit();
    pass(standbyFor / 1_000 + 1, false);
    power.stayAwake();
    expect([power.state, power.awake()]).toEqual(['standby', false]);
    pass(standbyFor / 1_000 - 2, false);
    expect(power.state).toBe('standby');
    pass(3, false);
    expect(states).toEqual(['asleep', 'standby', 'asleep']);
    expect(power.cost.wokenByMessages).toBe(1);
  });

  test('the unit sleeps only after open work has ended', () => {
    const { states, pass, open } = unit();
    open(true);
    pass(2 * (standbyFor / 1_000), false);
    expect(states).toEqual([]);
    open(false);
    pass(1, false);
    expect(states).toEqual(['asleep']);
  });

  test('an ignition that was on when the bus went silent does not keep the unit awake', () => {
    const { states, see, pass } = unit();
    see('ignition.type', 'Start');
    pass(5, true);
    pass(standbyFor / 1_000 + busSilentAfter / 1_000 + 1, false);
    expect(states).toEqual(['active', 'standby', 'asleep']);
  });
});

describe('waking the car', () => {
  test('waking the car sends the frame of its profile and succeeds when a frame arrives', async () => {
    const { power, asked, clock } = unit(async (heard, time) => void time.after(700, heard));
    const woken = power.wake();
    await clock.settle(1_000, 100);
    expect(await woken).toBe(true);
    expect(asked).toEqual(['wakeUp.wake']);
    expect(await power.wake()).toBe(true);
    expect(asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test('waking fails if the car does not answer, has no such frame, or its bus refuses it', async () => {
    const refuses = async (): Promise<void> => {
      throw new Error('bus off');
    };
    const silent = [unit(async () => undefined), unit()].map((car) => ({ ...car, unsent: 0 }));
    for (const { power, clock, log, unsent } of [...silent, { ...unit(refuses), unsent: 1 }]) {
      const woken = power.wake();
      await clock.settle(wakeTimeout + 100, 500);
      expect(await woken).toBe(false);
      expect(log.lines.filter(({ event }) => event === 'power.wakeUnsent')).toHaveLength(unsent);
    }
  });
});

test('the unit sleeps only after three minutes without frame and message, and never with open work', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), seconds: fc.nat({ max: 300 }) }),
    fc.record({ kind: fc.constantFrom('heard' as const, 'spoken' as const, 'open' as const, 'shut' as const) }),
    fc.record({ kind: fc.constant('ignition' as const), on: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { power, clock, see, pass, open } = unit();
      let [last, isOpen] = [0, false];
      for (const next of steps) {
        if (next.kind === 'pass') pass('seconds' in next ? next.seconds : 0, false);
        else if (next.kind === 'heard') power.heard();
        else if (next.kind === 'spoken') power.stayAwake();
        else if (next.kind === 'ignition') see('ignition.type', 'on' in next && next.on ? 'Start' : 'Stop');
        else isOpen = next.kind === 'open';
        open(isOpen);
        power.look();
        if (next.kind === 'heard' || next.kind === 'spoken') last = clock.monotonic();
        const quiet = clock.monotonic() - last;
        if (power.state === 'asleep') {
          // A state reached before work was opened ends only with a frame or a message.
          expect(quiet).toBeGreaterThanOrEqual(standbyFor);
        } else if (!isOpen) expect(quiet).toBeLessThan(standbyFor + busSilentAfter + 1);
        expect(power.cost.awake).toBeLessThanOrEqual(clock.monotonic() / 1_000 + 1);
      }
    }),
  );
});
