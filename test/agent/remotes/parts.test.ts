/** Single parts of commands, for inputs that whole commands contain too seldom. */
import { describe, expect, test } from 'vitest';
import { Channels } from '../../../agent/model/channels.ts';
import type { StatusWriter } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import { Schedule } from '../../../agent/power/schedule.ts';
import { Confirmations } from '../../../agent/remotes/confirmation.ts';
import type { CommandEnd } from '../../../agent/remotes/diagnosis.ts';
import { type Circumstances, holds, refuses } from '../../../agent/remotes/interlocks.ts';
import { planOf } from '../../../agent/remotes/planning.ts';
import { Programs } from '../../../agent/remotes/programs.ts';
import { ScheduledCommands, type ScheduledCommandsParts } from '../../../agent/remotes/scheduled-commands.ts';
import { type Thefts, Tracking, type TrackingPeriod } from '../../../agent/remotes/tracking.ts';
import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { encodeBody } from '../../../protocol/command.ts';
import { remoteKindOf } from '../../../protocol/remote/table.ts';
import { type Slot, type SlotValue, slotByPath } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { CHARGING } from './rig.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const T = Date.UTC(2026, 5, 10, 9);
const HOUR = 3_600_000;

describe('tracking of a stolen car', () => {
  function set(thefts: Partial<Thefts> = {}) {
    const tracked: (TrackingPeriod | undefined)[] = [];
    const known = { current: { id: 't' }, declare: () => undefined, ...thefts } as unknown as Thefts;
    return { tracking: new Tracking(known, { track: (period) => tracked.push(period) }), tracked };
  }

  test('a tracking command changes the intervals that it names and keeps the others', () => {
    const { tracking, tracked } = set();
    tracking.ordered({}).apply(T);
    tracking.ordered({ running: 10 }).apply(T);
    tracking.ordered({ shutdown: 600 }).apply(T);
    expect(tracked).toEqual([
      { running: 60_000, shutdown: 3_600_000 },
      { running: 10_000, shutdown: 3_600_000 },
      { running: 10_000, shutdown: 600_000 },
    ]);
    expect(
      [{}, { running: 10, shutdown: 600 }, { running: 9 }, { shutdown: 9 }].map((to) => tracking.ordered(to).done()),
    ).toEqual([true, true, false, false]);
  });

  test('tracking is refused without a tracker and for a car that is not stolen', () => {
    const none = new Tracking({ current: undefined, declare: () => undefined }, undefined);
    expect(none.ordered({}).refusal?.()?.code).toBe('command.unsupported');
    expect(set({ current: undefined }).tracking.ordered({}).refusal?.()?.code).toBe('command.stolen');
    expect(set().tracking.ordered({}).refusal?.()).toBeUndefined();
    // An agent without a tracker restores the stored intervals of another, and discards them with the theft.
    none.restore({ running: 1, shutdown: 1 });
    none.ordered({}).apply(T);
    none.look();
    expect(none.state()).toBeUndefined();
  });

  test('tracking ends once, with the theft', () => {
    const thefts = { current: { id: 't' } as unknown, declare: () => undefined };
    const { tracking, tracked } = set(thefts as unknown as Thefts);
    const over = new Tracking({ current: undefined, declare: () => undefined }, { track: (to) => tracked.push(to) });
    tracking.look();
    over.look();
    expect(tracked).toEqual([]);
    tracking.restore({ running: 5, shutdown: 6 });
    tracking.look();
    expect(tracking.state()).toEqual({ running: 5, shutdown: 6 });
    over.restore({ running: 5, shutdown: 6 });
    over.look();
    over.look();
    expect(tracked).toEqual([{ running: 5, shutdown: 6 }, { running: 5, shutdown: 6 }, undefined]);
  });

  test.each([
    undefined,
    {},
    { running: 1 },
    { shutdown: 1 },
    { running: '1', shutdown: 1 },
    { running: 1, shutdown: '1' },
    { running: 0, shutdown: 1 },
    { running: 1, shutdown: 0 },
    { running: -1, shutdown: 1 },
    { running: Number.NaN, shutdown: 1 },
  ])('an invalid stored tracking period is ignored: %j', (state) => {
    const { tracking, tracked } = set();
    tracking.restore(state);
    expect([tracking.state(), tracked]).toEqual([undefined, []]);
  });
});

describe('scheduled commands', () => {
  function set(parts: Partial<ScheduledCommandsParts> = {}) {
    const clock = new VirtualClock(T);
    const log = new MemoryLog();
    const schedule = new Schedule();
    const status = new Status();
    const writer = { set: () => undefined, remove: () => undefined } as unknown as StatusWriter;
    const programs = new Programs({ schedule, writer, status, zone: 'UTC', now: () => clock.now() });
    const done: string[] = [];
    const alarms: { at: number; due: () => void; cancelled: boolean }[] = [];
    const errands = new ScheduledCommands({
      schedule,
      programs,
      clock,
      log,
      timeKnown: () => true,
      tracking: new Tracking({ current: undefined, declare: () => undefined }, undefined),
      carryOut: ({ type }, id, due) => done.push(`${type} ${id.split('@')[0]} ${(due - T) / 1000}`),
      waker: (at, due) => {
        const alarm = { at: at - T, due, cancelled: false };
        alarms.push(alarm);
        return () => {
          alarm.cancelled = true;
        };
      },
      ...parts,
    });
    return { clock, log, schedule, errands, done, alarms };
  }
  const once = (seconds: number) => ({ kind: 'once' as const, at: T + seconds * 1000 });

  test('scheduled commands run at their time, and never before start or after stop', () => {
    const { clock, schedule, errands, done } = set();
    schedule.set('precondition/1', once(1), T);
    errands.arm();
    expect(clock.pending).toBe(0);
    clock.advance(500);
    errands.start();
    clock.advance(499);
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toEqual(['ThermalPreconditioning precondition/1 1']);
    schedule.set('precondition/2', once(3), T);
    errands.stop();
    expect(clock.pending).toBe(0);
    errands.arm();
    clock.advance(60_000);
    expect([done.length, clock.pending]).toEqual([1, 0]);
  });

  test('scheduled commands are checked at least every ten seconds, and every ten minutes while the unit sleeps', () => {
    let sleeps = false;
    const { clock, schedule, errands, done } = set({ asleep: () => sleeps, waker: undefined });
    errands.start();
    // Nothing arms the timer, as when the clock jumps past the time.
    schedule.set('precondition/1', once(5), T);
    clock.advance(9_999);
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toHaveLength(1);
    sleeps = true;
    errands.arm();
    schedule.set('precondition/2', once(20), T);
    clock.advance(599_999);
    expect(done).toHaveLength(1);
    clock.advance(1);
    expect(done).toHaveLength(2);
  });

  test('an alarm is set for the next scheduled command only', () => {
    const { clock, schedule, errands, done, alarms } = set({ asleep: () => true });
    errands.start();
    expect(alarms).toEqual([]);
    schedule.set('precondition/1', once(100), T);
    errands.arm();
    errands.arm();
    expect(alarms.map(({ at, cancelled }) => [at, cancelled])).toEqual([
      [100_000, true],
      [100_000, false],
    ]);
    clock.advance(100_000);
    alarms.at(-1)?.due();
    expect(done).toEqual(['ThermalPreconditioning precondition/1 100']);
    expect(alarms.at(-1)?.cancelled).toBe(true);
    errands.stop();
    alarms.at(-1)?.due();
    expect(clock.pending).toBe(0);
  });

  test('scheduled commands wait while the time is unknown, without more frequent checks', () => {
    let known = false;
    const { clock, schedule, errands, done, alarms } = set({ timeKnown: () => known });
    schedule.set('precondition/1', once(1), T);
    clock.advance(2_000);
    errands.start();
    expect(alarms).toEqual([]);
    clock.advance(9_999);
    known = true;
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toHaveLength(1);
  });

  test('missed occurrences are logged with their number, and unknown entries do not run', () => {
    const { clock, log, schedule, errands, done } = set();
    const daily = {
      kind: 'local' as const,
      seconds: 10 * 3600,
      weekdays: Array(7).fill(true),
      zone: 'UTC',
      repeats: true,
    };
    schedule.set('precondition/1', daily, T);
    schedule.set('of an older version', once(1), T);
    clock.advance(49 * HOUR + 60_000);
    errands.start();
    expect(done).toEqual([`ThermalPreconditioning precondition/1 ${(49 * HOUR) / 1000}`]);
    expect(log.lines).toEqual([
      { level: 'warn', event: 'program.missed', fields: { key: 'precondition/1', times: 2 } },
    ]);
    clock.advance(24 * HOUR);
    expect([done.length, log.lines.length]).toEqual([2, 1]);
  });
});

describe('confirmations', () => {
  const lock = slot('doorsState.lockedStates');
  const moving = slot('kinetic.moving');
  const locked = { path: lock.path, includes: 'Locked' };
  const key = channelByPath.get('key.present') as Channel;
  const end = (code: CommandEnd['code'], value: SlotValue): CommandEnd => ({ slot: moving, value, code, detail: code });

  function set() {
    const clock = new VirtualClock(T);
    const status = new Status();
    const confirmations = new Confirmations(status, clock);
    const channels = new Channels();
    const see = (value: SlotValue, of = lock): void => status.write(of, value, clock.now());
    return { clock, status, confirmations, channels, see };
  }

  test('a confirmation is shown at once or in time, later it is late, and no timer remains', async () => {
    const { clock, confirmations, see } = set();
    const late = confirmations.wait(locked, 100);
    clock.advance(100);
    expect(await late).toBe('late');
    const shown = confirmations.wait(locked, 100);
    see(['Unlocked']);
    see(['Locked']);
    expect([await shown, await confirmations.wait(locked, 100), clock.pending]).toEqual(['shown', 'shown', 0]);
    expect([confirmations.shown(locked), confirmations.shown({ path: lock.path, includes: 'Unlocked' })]).toEqual([
      true,
      false,
    ]);
  });

  test('a confirmation that must be new counts only after another value', async () => {
    const { clock, confirmations, see } = set();
    see(['Locked']);
    const again = confirmations.wait(locked, 100, { anew: true });
    see(['Locked', 'DriverUnlocked']);
    clock.advance(100);
    expect(await again).toBe('late');
    const after = confirmations.wait(locked, 100, { anew: true });
    see(['Unlocked']);
    see(['Locked']);
    expect(await after).toBe('shown');
    const unknown = set();
    const first = unknown.confirmations.wait(locked, 100, { anew: true });
    unknown.see(['Locked']);
    unknown.clock.advance(100);
    // It is unknown whether the value was shown before.
    expect(await first).toBe('late');
    const other = set();
    other.see(['Unlocked']);
    const next = other.confirmations.wait(locked, 100, { anew: true });
    other.see(['Locked']);
    expect(await next).toBe('shown');
  });

  test('an abort condition ends the wait, but an action of the driver only explains a timeout', async () => {
    const { clock, confirmations, see } = set();
    const ends = [end('command.vehicleInUse', true), end('command.canceled', false)];
    const ended = confirmations.wait(locked, 100, { ends });
    see(true, moving);
    expect(await ended).toEqual(ends[0]);
    const opposed = confirmations.wait(locked, 100, { ends });
    see(false, moving);
    clock.advance(100);
    expect(await opposed).toEqual(ends[1]);
    see(true, moving);
    const shown = confirmations.wait(locked, 100, { ends });
    see(false, moving);
    see(['Locked']);
    expect(await shown).toBe('shown');
    see(['Unlocked']);
    const without = confirmations.wait(locked, 100);
    see(true, moving);
    clock.advance(100);
    expect(await without).toBe('late');
  });

  test('channels confirm commands like Status does, once they are observed', async () => {
    const { clock, confirmations, channels } = set();
    const rule = { path: key.path, equals: true };
    expect(confirmations.shown(rule)).toBe(false);
    confirmations.hear(channels);
    expect(confirmations.shown(rule)).toBe(false);
    const wait = confirmations.wait(rule, 100);
    channels.write(key, true, clock.now());
    expect([await wait, confirmations.shown(rule), confirmations.shown({ ...rule, equals: false })]).toEqual([
      'shown',
      true,
      false,
    ]);
    const sampled = [...channelByPath.values()].find((channel) => channel.sampled && channel.kind === 'quantity');
    const sample = confirmations.wait({ path: sampled?.path ?? '', equals: 1 as unknown as string }, 100);
    channels.write(sampled as Channel, 1, clock.now());
    expect(await sample).toBe('shown');
    expect(() => confirmations.shown({ path: 'no.path', equals: true })).toThrow(
      expect.objectContaining({ code: 'configuration.wrong' }),
    );
  });

  test('a stopped confirmation ends all waits as late', async () => {
    const { clock, confirmations, see } = set();
    const waits = [confirmations.wait(locked, 100), confirmations.wait(locked, 200)];
    confirmations.stop();
    expect(await Promise.all(waits)).toEqual(['late', 'late']);
    expect([await confirmations.wait(locked, 100), clock.pending]).toEqual(['late', 0]);
    see(['Locked']);
    expect(await confirmations.wait(locked, 100)).toBe('shown');
  });
});

describe('programs', () => {
  function set(state?: unknown) {
    const schedule = new Schedule();
    const status = new Status();
    const shown: string[] = [];
    const writer = {
      set: (of: Slot, value: SlotValue, at: number) => {
        shown.push(`${of.path.split('.').at(-1)} ${JSON.stringify(value)}`);
        status.write(of, value, at);
      },
      remove: (of: Slot, at: number) => {
        shown.push(`${of.path.split('.').at(-1)} -`);
        status.remove(of, at);
      },
    } as unknown as StatusWriter;
    let now = T;
    const programs = new Programs({ schedule, writer, status, zone: 'UTC', now: () => now });
    programs.restore(state);
    return { programs, schedule, status, shown, to: (at: number) => (now = at) };
  }
  const kept = { slot: 2, enabled: true, start: 'PT7H' };

  test.each([
    undefined,
    5,
    { preconditioning: 5, charging: 'x', delayed: 'x' },
    { preconditioning: [5, undefined], charging: [{ ...kept, slot: '2' }], delayed: Number.NaN },
    { preconditioning: [{ ...kept, enabled: 1 }], charging: [{ ...kept, start: 'soon' }], delayed: null },
  ])('invalid stored programs are ignored: %j', (state) => {
    const { programs, shown } = set(state);
    expect(programs.state()).toEqual({ preconditioning: [], charging: [] });
    programs.look(T);
    programs.show(T);
    expect(shown).toEqual([]);
  });

  test('stored programs are shown where missing, and removed when they are deleted', () => {
    const state = { preconditioning: [kept], charging: [{ ...kept, slot: 1 }], delayed: T + HOUR };
    const { programs, shown, status } = set(state);
    expect(programs.state()).toEqual(state);
    programs.look(T);
    expect(shown.map((line) => line.split(' ')[0])).toEqual(['programs', 'programs', 'nextDelayedTime']);
    expect(status.value(slot(`${CHARGING}.nextDelayedTime`))).toBe('PT10H');
    programs.look(T);
    expect(shown).toHaveLength(3);
    for (const path of [
      'preconditioning.airConditioning.programs',
      `${CHARGING}.schedule.programs`,
      `${CHARGING}.nextDelayedTime`,
    ]) {
      status.remove(slot(path), T);
      programs.look(T);
      expect([path, status.value(slot(path)) !== undefined]).toEqual([path, true]);
    }
    shown.splice(0);
    programs.preconditioning([{ slot: 2, actionsType: 'Delete' }]).apply(T);
    programs.charging([]).apply(T);
    expect(programs.scheduled({ key: 'charge/next', due: T, skipped: 0, last: true }, T)?.type).toBe(
      'ElectricBatteryChargingRequest',
    );
    expect(shown.filter((line) => line.endsWith(' -'))).toEqual(['programs -', 'programs -', 'nextDelayedTime -']);
    expect(programs.state()).toEqual({ preconditioning: [], charging: [] });
  });

  test('programs that the car itself stores are not removed', () => {
    const { programs, shown, status } = set();
    status.write(slot(`${CHARGING}.nextDelayedTime`), 'PT3H', T);
    programs.charging([]).apply(T);
    programs.look(T);
    expect([shown, status.value(slot(`${CHARGING}.nextDelayedTime`))]).toEqual([[], 'PT3H']);
  });

  test('an unchanged program keeps its next occurrence', () => {
    const { programs, schedule } = set();
    const program = { slot: 1, start: 'PT9H', actionsType: 'Set' as const, enabled: true };
    programs.preconditioning([program as never]).apply(T);
    // Planned at nine, it is next due tomorrow. Planned again a moment earlier, it would be due today.
    const next = schedule.next;
    const again = programs.preconditioning([program as never]);
    expect(again.done()).toBe(true);
    again.apply(T - 1000);
    expect([next, schedule.next]).toEqual([T + 24 * HOUR, T + 24 * HOUR]);
    const other = programs.preconditioning([{ ...program, slot: 3, start: 'PT12H' } as never]);
    expect(other.done()).toBe(false);
    other.apply(T - 1000);
    expect(schedule.next).toBe(T + 3 * HOUR);
    expect(schedule.take(T)).toEqual([]);
    programs.preconditioning([{ slot: 3, actionsType: 'Delete' }]).apply(T - 1000);
    expect(
      (programs.state() as { preconditioning: { slot: number }[] }).preconditioning.map(({ slot: place }) => place),
    ).toEqual([1]);
  });

  test('charging programs use the free slots, and an identical list changes nothing', () => {
    const { programs, schedule } = set();
    const days = { day: ['Mon' as const] };
    const list = [
      { start: 'PT9H', end: 'PT8H', enabled: true, occurence: { day: ['Wed' as const] } },
      { slot: 1, start: 'PT22H', enabled: true, occurence: days },
      { slot: 4, start: 'PT23H', enabled: false },
    ] as never[];
    const effect = programs.charging(list);
    expect(effect.done()).toBe(false);
    effect.apply(T);
    expect(effect.done()).toBe(true);
    expect((programs.state() as { charging: { slot: number }[] }).charging.map(({ slot: place }) => place)).toEqual([
      1, 2, 4,
    ]);
    // The 10th of June 2026 is a Wednesday: a program that begins then at nine ends on Thursday at eight.
    expect(schedule.next).toBe(T + 23 * HOUR);
    programs.charging(list).apply(T - 1000);
    expect(schedule.next).toBe(T + 23 * HOUR);
    expect(schedule.take(T + 23 * HOUR).map(({ key }) => key)).toEqual(['charge/2/end']);
  });

  test('an end time up to the start time is on the next day, and a later one on the same day', () => {
    for (const [start, stop, hours] of [
      ['PT10H', 'PT10H', 25],
      ['PT10H', 'PT11H', 2],
    ] as const) {
      const { programs, schedule } = set();
      programs.charging([{ slot: 1, start, end: stop, enabled: true, occurence: { day: ['Wed'] } } as never]).apply(T);
      schedule.take(T + HOUR);
      expect([stop, (schedule.next ?? 0) - T]).toEqual([stop, hours * HOUR]);
    }
  });

  test('delayed charging is done once planned for that time, and removed when it begins', () => {
    const { programs, to } = set();
    const [at, later] = [programs.delayed(T + HOUR), programs.delayed(T + 2 * HOUR)];
    expect([at.done(), at.refusal?.(), programs.delayed(T).refusal?.()?.code]).toEqual([
      false,
      undefined,
      'command.malformed',
    ]);
    at.apply(T);
    expect([at.done(), later.done(), programs.delayed('PT10H').done(), programs.delayed('PT11H').done()]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    to(T + HOUR);
    expect(programs.delayed('PT10H').refusal?.()).toBeUndefined();
    const charge = { due: T, skipped: 0, last: false };
    expect(programs.scheduled({ ...charge, key: 'charge/1' }, T)?.body).toEqual({ immediate: true });
    expect(programs.scheduled({ ...charge, key: 'charge/1/end' }, T)?.body).toEqual({ immediate: false });
    expect(programs.scheduled({ ...charge, key: 'tracking' }, T)).toBeUndefined();
    expect(programs.state()).toHaveProperty('delayed');
    programs.scheduled({ ...charge, key: 'charge/next' }, T);
    expect(programs.state()).not.toHaveProperty('delayed');
  });

  test('a program that runs once is disabled after its last occurrence, and no other program is', () => {
    const { programs } = set({ preconditioning: [kept, { ...kept, slot: 3 }], charging: [] });
    const enabled = () =>
      (programs.state() as { preconditioning: (typeof kept)[] }).preconditioning.map((program) => program.enabled);
    programs.scheduled({ key: 'precondition/2', due: T, skipped: 0, last: false }, T);
    expect(enabled()).toEqual([true, true]);
    programs.scheduled({ key: 'precondition/2', due: T, skipped: 0, last: true }, T);
    expect(enabled()).toEqual([false, true]);
  });
});

test('preconditioning plans immediate actions and programs', () => {
  const { programs } = { programs: { preconditioning: () => ({ done: () => false, apply: () => undefined }) } };
  const plan = (airConditioning: object) => {
    const body = encodeBody('ThermalPreconditioning', { airConditioning });
    const { actions, effects } = planOf(remoteKindOf('ThermalPreconditioning'), body, { programs } as never);
    return [...actions, effects.length];
  };
  const list = [
    { slot: 1, start: 'PT7H', recurrence: 'Daily', enabled: true, actionsType: 'Set', occurence: { day: ['Mon'] } },
  ];
  expect(plan({ immediate: true })).toEqual(['preconditioning.start', 0]);
  expect(plan({ immediate: false })).toEqual(['preconditioning.stop', 0]);
  expect(plan({ immediate: true, programs: list })).toEqual(['preconditioning.start', 1]);
  expect(plan({ immediate: false, programs: list })).toEqual([1]);
  expect(plan({ programs: list })).toEqual([1]);
});

describe('interlocks', () => {
  const circumstances = (shown: Readonly<Record<string, SlotValue>>, rest: Partial<Circumstances> = {}) => {
    const status = new Status();
    for (const [path, value] of Object.entries(shown)) status.write(slot(path), value, T);
    return { status, now: T, fed: new Set(Object.keys(shown)), ...rest };
  };

  test('a condition holds only for a shown value of its type', () => {
    const car = circumstances({ 'kinetic.speed': 5, 'doorsState.lockedStates': ['Locked'], 'ignition.type': 'Stop' });
    const speed = 'kinetic.speed';
    for (const [condition, isSo] of [
      [{ path: speed, atMost: 5 }, true],
      [{ path: speed, atMost: 4 }, false],
      [{ path: speed, atLeast: 5 }, true],
      [{ path: speed, atLeast: 6 }, false],
      [{ path: speed, atLeast: 4, atMost: 6 }, true],
      [{ path: speed }, false],
      [{ path: speed, includes: 'Locked' }, false],
      [{ path: 'doorsState.lockedStates', includes: 'Locked' }, true],
      [{ path: 'doorsState.lockedStates', includes: 'Unlocked' }, false],
      [{ path: 'ignition.type', equals: 'Stop' }, true],
      [{ path: 'ignition.type', equals: 'Start' }, false],
      [{ path: 'ignition.type', atMost: 5 }, false],
      [{ path: 'kinetic.moving', equals: false }, false],
      [{ path: 'no.path', equals: false }, false],
    ] as const) {
      expect([condition, holds(condition, car)]).toEqual([condition, isSo]);
    }
  });

  test('an interlock refusal states the requirement and the shown value', () => {
    expect(refuses('horn.on', circumstances({}))?.detail).toBe(
      'refused: the car must be stationary (kinetic.speed is unknown; the limit is 1 km/h)',
    );
    expect(refuses('doors.unlock', circumstances({ 'kinetic.speed': 7 }))).toEqual({
      code: 'command.vehicleInUse',
      detail: 'refused: the car must be stationary (kinetic.speed is 7 km/h; the limit is 6 km/h)',
    });
    const own = (condition: object) =>
      ({ requires: [{ cause: 'DoorsOpen', ...condition }] }) as unknown as Partial<Circumstances>;
    for (const [condition, words] of [
      [{ path: 'ignition.type', equals: 'Stop' }, 'ignition.type must be Stop'],
      [{ path: 'kinetic.moving', equals: false }, 'kinetic.moving must be false'],
      [{ path: 'doorsState.lockedStates', includes: 'Locked' }, 'doorsState.lockedStates must be Locked'],
      [{ path: 'kinetic.speed', atMost: 3 }, 'kinetic.speed must be at most 3'],
      [{ path: 'energies.Fuel.level', atLeast: 9 }, 'energies.Fuel.level must be at least 9'],
    ] as const) {
      expect(refuses('doors.lock', circumstances({}, own(condition)))).toEqual({
        code: 'command.doorsOpen',
        detail: `refused: ${words}, by the profile`,
      });
    }
    expect(refuses('doors.lock', circumstances({}))).toBeUndefined();
  });

  test('a condition of the profile replaces the built-in one, unless that is fixed', () => {
    const slower = {
      requires: [{ path: 'kinetic.speed', atMost: 50, cause: 'VehicleInUse' }],
    } as Partial<Circumstances>;
    expect(refuses('doors.unlock', circumstances({ 'kinetic.speed': 40 }, slower))).toBeUndefined();
    const stopped = { 'kinetic.speed': 1, 'ignition.type': 'Stop' };
    expect(refuses('immobilization.on', circumstances(stopped, slower))?.code).toBe('command.vehicleInUse');
    expect(refuses('immobilization.on', circumstances({ ...stopped, 'kinetic.speed': 0 }, slower))).toBeUndefined();
    for (const [path, value] of [
      ['ignition.type', 'StartUp'],
      ['ignition.type', 'Start'],
      ['powertrain.status', 'Starting'],
      ['powertrain.status', 'Running'],
      ['powertrain.status', 'Stopping'],
    ] as const) {
      const car = circumstances({
        'kinetic.speed': 0,
        'ignition.type': 'Stop',
        'powertrain.status': 'Stopped',
        [path]: value,
      });
      expect([path, value, refuses('immobilization.on', car)?.code]).toEqual([path, value, 'command.vehicleInUse']);
    }
  });

  test('preconditioning needs closed doors, as far as the profile maps them, and enough energy', () => {
    const ready = { 'doorsState.opening.Driver.state': 'Closed', 'energies.Fuel.level': 20 };
    expect(refuses('preconditioning.start', circumstances(ready))).toBeUndefined();
    const trunk = 'doorsState.opening.Trunk.state';
    expect(refuses('preconditioning.start', circumstances({ ...ready, [trunk]: 'Open' }))?.detail).toContain('windows');
    expect(refuses('preconditioning.start', circumstances({ ...ready, [trunk]: 'Closed' }))).toBeUndefined();
    const feeds = { fed: new Set([...Object.keys(ready), trunk]) };
    expect(refuses('preconditioning.start', circumstances(ready, feeds))?.code).toBe('command.doorsOpen');
    expect(refuses('preconditioning.start', circumstances({ ...ready, 'energies.Fuel.level': 19 }))?.code).toBe(
      'command.batteryLow',
    );
    const cable = { ...ready, 'energies.Fuel.level': 1, [`${CHARGING}.plugged`]: true };
    expect(refuses('preconditioning.start', circumstances(cable))).toBeUndefined();
    expect(refuses('charging.start', circumstances(ready))?.code).toBe('command.chargingStation');
    expect(refuses('charging.start', circumstances(cable))).toBeUndefined();
  });
});
