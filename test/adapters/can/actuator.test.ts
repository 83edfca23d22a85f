/** Frames of commands on simulated buses: which frames are sent, and when none may be. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameActuator } from '../../../adapters/can/actuator.ts';
import { parseDbc } from '../../../adapters/can/dbc/index.ts';
import { BrokenOff } from '../../../agent/actuators.ts';
import { Status } from '../../../agent/model/status.ts';
import { ERROR, type OutgoingFrame, SENT } from '../../../agent/ports.ts';
import { BusActivity } from '../../../agent/power/bus-activity.ts';
import { PowerStates } from '../../../agent/power/power.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { batchOf, text } from './dbc/frames.ts';

const SILENCE = 5_000;
const WAKING = 10_000;
const buses = ['body', 'comfort', 'drive'] as const;
type Bus = (typeof buses)[number];

const { database } = parseDbc(
  text(`BO_ 256 ORDER: 2 A
 SG_ What : 0|8@1+ (1,0) [0|255] "" B
 SG_ Count : 8|4@1+ (1,0) [0|15] "" B

BO_ 1024 NETWORK: 1 A
 SG_ Node : 0|8@1+ (1,0) [0|255] "" B
`),
  'orders.dbc',
);

const send = (bus: Bus, every: number, duration: number) => ({
  send: { bus, message: 'ORDER', signals: { What: 1 }, every, for: duration, counter: 'Count' },
});
const commands = {
  'doors.lock': send('body', 50, 500),
  'horn.on': send('comfort', 900, 12_000),
  'charging.start': send('drive', 50, 0),
  'wakeUp.wake': { send: { bus: 'comfort', message: 'NETWORK', signals: { Node: 1 }, every: 100, for: 1_000 } },
};
type Action = keyof typeof commands;
const busOf = (action: Action): Bus => commands[action].send.bus as Bus;

function rig() {
  const clock = new VirtualClock();
  const activity = new BusActivity(clock, SILENCE);
  const sent: (OutgoingFrame & { readonly at: number })[] = [];
  const sender = { send: async (frame: OutgoingFrame) => void sent.push({ ...frame, at: clock.monotonic() }) };
  const actuator = new FrameActuator(commands, [{ database }], sender, clock, (bus) => activity.asleep(bus));
  const power = new PowerStates({
    clock,
    status: new Status(),
    log: new MemoryLog(),
    actuator,
    busy: () => false,
    changed: () => undefined,
    rules: agentSettings({ power: { busSilentAfter: SILENCE, wakeTimeout: WAKING } }).power,
  });
  /** Delivers a frame of `bus` in a batch from a source of all three buses. */
  const hear = (bus: Bus, kind: 'car' | 'error' | 'own' = 'car'): void => {
    const batch = batchOf([{ id: kind === 'error' ? ERROR : 0x123, data: Uint8Array.of(1), bus: buses.indexOf(bus) }]);
    if (kind === 'own') batch.flags[0] = SENT;
    if (activity.received(batch, buses)) power.heard();
  };
  /** Acts like a command: wakes the bus if it sleeps, then sends. */
  const order = async (action: Action): Promise<string> => {
    if (!power.awake([action]) && !(await power.wake([action]))) return 'asleep';
    return actuator.actuate(action).then(
      () => 'sent',
      (error: { code: string }) => error.code,
    );
  };
  return { clock, activity, actuator, power, sent, hear, order };
}

describe('a sleeping bus', () => {
  test('gets no frame of a command while only another bus is active, and gets it after it woke', async () => {
    const { clock, hear, order, sent } = rig();
    hear('comfort');
    const first = order('doors.lock');
    await clock.settle(WAKING + 1_000, 100);
    expect(await first).toBe('asleep');
    expect(new Set(sent.map(({ bus, id }) => `${bus} ${id}`))).toEqual(new Set(['comfort 1024']));
    const second = order('doors.lock');
    await clock.settle(300);
    hear('body');
    await clock.settle(1_000);
    expect(await second).toBe('sent');
    expect(sent.filter(({ bus }) => bus === 'body')).toHaveLength(10);
  });

  test('that falls silent between two frames of a command gets no further frame', async () => {
    const { clock, hear, order, sent } = rig();
    hear('comfort');
    const done = order('horn.on');
    await clock.settle(13_000, 50);
    expect(await done).toBe('command.asleep');
    expect(sent.map(({ at }) => at)).toEqual([0, 950, 1_850, 2_750, 3_650, 4_550]);
  });

  test('gets wake-up frames for the time in the profile, even if the first ones are not acknowledged', async () => {
    const { clock } = rig();
    const attempts: number[] = [];
    let isHeard = false;
    const sender = {
      send: async () => {
        attempts.push(clock.monotonic());
        if (!isHeard) throw new VigieError('command.actuation', 'nobody acknowledges');
      },
    };
    const actuator = new FrameActuator(commands, [{ database }], sender, clock);
    const refused = expect(actuator.actuate('wakeUp.wake')).rejects.toMatchObject({ code: 'command.actuation' });
    await clock.settle(1_000, 50);
    await refused;
    expect(attempts).toHaveLength(10);
    const woken = actuator.actuate('wakeUp.wake');
    await clock.settle(500, 50);
    isHeard = true;
    await clock.settle(600, 50);
    await woken;
    expect(attempts).toHaveLength(20);
    // Slow attempts do not extend the time for waking.
    isHeard = false;
    const slow = new FrameActuator(
      commands,
      [{ database }],
      { send: () => new Promise((_, reject) => clock.after(300, () => sender.send().catch(reject))) },
      clock,
    );
    const slowly = expect(slow.actuate('wakeUp.wake')).rejects.toMatchObject({ code: 'command.actuation' });
    await clock.settle(1_500, 50);
    await slowly;
    expect(attempts).toHaveLength(23);
    // A command gets one attempt, because it must not take effect late.
    await expect(actuator.actuate('doors.lock')).rejects.toMatchObject({ code: 'command.actuation' });
    expect(attempts).toHaveLength(24);
  });

  test('is not woken by frames that this unit sends, nor by error frames of its controller', async () => {
    const { activity, hear } = rig();
    hear('drive', 'own');
    hear('drive', 'error');
    expect(activity.asleep('drive')).toBe(true);
    hear('drive');
    expect([activity.asleep('drive'), activity.asleep('body')]).toEqual([false, true]);
  });

  test('gets only wake-up frames, whatever was received before', async () => {
    const step = fc.oneof(
      fc.record({ hears: fc.constantFrom(...buses), kind: fc.constantFrom('car', 'car', 'error', 'own') }),
      fc.record({ orders: fc.constantFrom<Action>('doors.lock', 'horn.on', 'charging.start') }),
      fc.record({ waits: fc.integer({ min: 1, max: 7_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { clock, hear, order, sent } = rig();
        const heard = new Map<string, number[]>(buses.map((bus) => [bus, []]));
        const orders: { readonly action: Action; readonly outcome: Promise<string> }[] = [];
        for (const next of steps) {
          if ('hears' in next) {
            hear(next.hears, next.kind as 'car');
            if (next.kind === 'car') heard.get(next.hears)?.push(clock.monotonic());
          } else if ('orders' in next) orders.push({ action: next.orders, outcome: order(next.orders) });
          else await clock.settle(next.waits, 100);
          await clock.settle(1);
        }
        await clock.settle(30_000, 500);
        for (const { bus, id, at } of sent) {
          if (id === 1024) continue;
          const before = heard.get(bus)?.findLast((moment) => moment <= at) ?? Number.NEGATIVE_INFINITY;
          expect(at - before, `a frame on ${bus} at ${at}`).toBeLessThanOrEqual(SILENCE);
        }
        for (const { action, outcome } of orders) {
          const ended = await outcome;
          expect(['sent', 'asleep', 'command.asleep']).toContain(ended);
          // A command that reports success sent its frame, on its own bus.
          if (ended === 'sent') expect(sent.some(({ bus, id }) => bus === busOf(action) && id === 256)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('repeated frames of a command', () => {
  const forbidden = new VigieError('command.vehicleInUse', 'it drives');

  test('stop when the interlock forbids it, and the error says that they had begun', async () => {
    const { clock, hear, actuator, sent } = rig();
    hear('body');
    let asked = 0;
    const done = actuator.actuate('doors.lock', undefined, () => {
      if (++asked > 3) throw forbidden;
    });
    const ended = done.catch((error: unknown) => error);
    await clock.settle(1_000);
    expect(await ended).toBeInstanceOf(BrokenOff);
    expect(await ended).toMatchObject({ code: 'command.vehicleInUse', cause: forbidden });
    expect([sent.length, asked]).toEqual([3, 4]);
  });

  test('are not sent if the interlock forbids the first, and the error says that nothing had begun', async () => {
    const { clock, hear, actuator, sent } = rig();
    hear('body');
    const refuse = (): void => {
      throw forbidden;
    };
    const ended = actuator.actuate('doors.lock', undefined, refuse).catch((error: unknown) => error);
    // Wait long enough for all repetitions, so that a wrong frame would be seen.
    await clock.settle(1_000);
    expect(sent).toEqual([]);
    expect(await ended).toBe(forbidden);
  });

  test('report an interruption if the bus stops accepting them', async () => {
    const { clock, hear, sent } = rig();
    hear('body');
    const busOff = new VigieError('command.actuation', 'the bus is off');
    const sender = {
      send: async (frame: OutgoingFrame) => {
        if (sent.length === 2) throw busOff;
        sent.push({ ...frame, at: clock.monotonic() });
      },
    };
    const actuator = new FrameActuator(commands, [{ database }], sender, clock);
    const ended = actuator.actuate('doors.lock').catch((error: unknown) => error);
    await clock.settle(1_000);
    expect(await ended).toMatchObject({ name: 'BrokenOff', code: 'command.actuation', cause: busOff });
  });
});
