/**
 * Random commands, duplicates, replays, reordering, wrong keys, late commands, clock steps, changing cars, and power
 * cuts between any two steps, checked against invariants.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ledger, type LedgerData } from '../../../agent/remotes/ledger.ts';
import type { CommandBodyKind } from '../../../protocol/command.ts';
import { defined } from '../../../protocol/defined.ts';
import type { RemoteReport } from '../../../protocol/schema/remote.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { runs } from '../../rig/runs.ts';
import { carOf, commandOf, disk, type Setting, signed, stranger } from './rig.ts';

const wishes: readonly (readonly [CommandBodyKind, object])[] = [
  ['Doors', { state: 'Locked' }],
  ['Doors', { state: 'Unlocked' }],
  ['Lights', { on: true }],
  ['Horn', { state: 'Activated' }],
  ['Immobilization', { activate: true }],
  ['Stolen', { immobilization: { activate: true } }],
  ['Stolen', { stolen: true }],
  ['Stolen', { stolen: false }],
  ['WakeUp', {}],
  ['Navigation', { positions: [{ type: 'Point', coordinates: [2, 48] }] }],
  ['ElectricBatteryChargingRequest', { immediate: true }],
  ['ElectricBatteryChargingRequest', { preferences: { level: 'Level3', type: 'Partial' } }],
  ['ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT13H1M' } }],
  ['ElectricBatteryChargingRequest', { schedule: { programs: [{ start: 'PT13H2M', end: 'PT13H4M' }] } }],
  ['ThermalPreconditioning', { airConditioning: { immediate: true } }],
  [
    'ThermalPreconditioning',
    {
      airConditioning: {
        programs: [{ slot: 1, enabled: true, start: 'PT13H1M', occurence: { day: ['Mon', 'Thu', 'Fri', 'Sun'] } }],
      },
    },
  ],
];

type Step =
  | { readonly do: 'send'; readonly wish: number; readonly valid: number; readonly forged: boolean }
  | { readonly do: 'again'; readonly which: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'step'; readonly ms: number }
  | { readonly do: 'speed'; readonly kmh: number }
  | { readonly do: 'door'; readonly open: boolean }
  | { readonly do: 'silence'; readonly on: boolean }
  | { readonly do: 'obey'; readonly on: boolean }
  | { readonly do: 'cut'; readonly after: number }
  | { readonly do: 'slow'; readonly ms: number }
  | { readonly do: 'damage'; readonly what: 'file' | 'commits' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      wish: fc.nat(wishes.length - 1),
      valid: fc.integer({ min: 1, max: 60_000 }),
      forged: fc.nat(5).map((dice) => dice === 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('again' as const), which: fc.nat(50) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 90_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -9e5, max: 9e5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('speed' as const), kmh: fc.constantFrom(0, 0, 5, 50) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('door' as const), open: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('silence' as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('obey' as const), on: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cut' as const), after: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('slow' as const), ms: fc.constantFrom(0, 200, 3_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('damage' as const), what: fc.constantFrom('file' as const, 'commits') }),
  },
);

/** Readings are valid for five seconds and checked once a second: longest age, ms. */
const SILENCE = 7_000;

/** Allowed difference between the clocks of sender and car, ms (docs/commands.md). */
const SKEW = 300_000;
/** Time before a loss of the commits in which a command may have ended without a write of the file, ms. */
const RECENT = 100_000;

/** A power cut: pending work never continues. */
const never = new Promise<never>(() => undefined);

test('no command runs twice, late, unsigned or against an interlock, and each command ends once', async () => {
  let actuations = 0;
  let ended = 0;
  let cuts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const clock = new VirtualClock(Date.UTC(2026, 0, 1, 12));
      const state = { speed: 0, door: false, mute: false, silent: 0, slow: 0, obeys: true };
      const breaches: string[] = [];
      /** Steps of disk, outbox and actuator until the power cut. */
      let left = Number.POSITIVE_INFINITY;
      const spend = async (): Promise<void> => {
        if (left-- <= 0) await never;
        if (state.slow > 0) await new Promise<void>((resolve) => clock.after(state.slow, resolve));
      };
      const store: { data: LedgerData; memory: Map<string, unknown> } = { data: disk().data, memory: new Map() };
      const sent: {
        payload: Uint8Array;
        id: string;
        genuine: boolean;
        ago: () => number;
        issued: number;
        expires: number;
      }[] = [];
      const published: RemoteReport[] = [];
      /** By run of the agent and name. The actions of one command happen at most once over all runs. */
      const done: { action: string; at: number; ago: () => number; id: string | undefined }[] = [];
      let theft: NonNullable<Setting['theft']> | undefined;
      /** Returns a function that returns the time since now, ms, whatever happens to the clock. */
      const since = (): (() => number) => {
        const began = clock.monotonic();
        return () => clock.monotonic() - began;
      };
      /** State of the commits at the start before the last, and the commands whose end they may have lost. */
      let earlier = new Map<string, unknown>();
      const forgotten = new Set<string>();
      /** Commands on disk, as the next start would read them. */
      const onDisk = (): Ledger => {
        const ledger = new Ledger(disk(store.data));
        ledger.recall({ recall: (key) => store.memory.get(key) });
        return ledger;
      };

      const start = (damage: 'file' | 'commits' | undefined) => {
        const corrupt = damage === 'file';
        if (damage === 'commits') {
          for (const { id } of onDisk().unfinished()) forgotten.add(id);
          for (const { id, ago } of [...sent, ...done]) if (id !== undefined && ago() < RECENT) forgotten.add(id);
          store.memory = earlier;
        }
        earlier = structuredClone(store.memory);
        const document = disk(corrupt ? { counters: {}, actions: [] } : store.data, corrupt ? 1 : 0);
        let alive = true;
        const appended: RemoteReport[] = [];
        const write = document.write.bind(document);
        let writing: Promise<void> = Promise.resolve();
        // Writes keep their order, as in the document on disk.
        document.write = (next) => {
          writing = writing.then(async () => {
            await spend();
            if (!alive) await never;
            await write(next);
            store.data = document.data;
            await spend();
          });
          return writing;
        };
        const car = carOf({
          clock,
          document,
          memory: store.memory,
          damaged: damage === 'commits',
          limits: { burst: 1000 },
          obeys: () => state.obeys,
          ...defined({ theft }),
          publisher: {
            // Like the outbox: the message and the copy of the ledger are in the same next commit.
            secure: async (_kind, body) => {
              appended.push(body as RemoteReport);
              await spend();
              if (!alive) await never;
              commit();
              await spend();
            },
          },
          actuate: async (action) => {
            if (!alive) await never;
            check(action);
            const under = onDisk().unfinished();
            const own = under.find(
              (record) => record.status === 'SentToVehicle' && record.action.split(',').includes(action),
            );
            done.push({ action, at: clock.now(), ago: since(), id: own?.id });
            actuations++;
            await spend();
          },
        });
        const commit = (): void => {
          published.push(...appended.splice(0));
          for (const [key, value] of car.remotes.states()) store.memory.set(key, structuredClone(value));
          theft = car.stolen();
        };
        // The agent treats an error in an actuator as a bus failure, so breaches are collected and checked at the end.
        const check = (action: string): void => {
          const limits: Record<string, number> = {
            'doors.unlock': 6,
            'lights.on': 1,
            'horn.on': 1,
            'immobilization.on': 0,
          };
          const seen = car.value('kinetic.speed') as number;
          const limit = limits[action];
          if (limit !== undefined && (seen > limit || state.silent > SILENCE))
            breaches.push(`${action} at ${seen} km/h`);
          if (action === 'preconditioning.start' && car.value('doorsState.opening.Driver.state') !== 'Closed') {
            breaches.push(`${action} with a door open`);
          }
          if (car.stolen() !== undefined && !action.startsWith('immobilization'))
            breaches.push(`${action} while stolen`);
        };
        // Faults and a running car are visible through the buses.
        const say = (): void => {
          if (state.mute) return;
          state.silent = 0;
          car.repeat();
          car.see('kinetic.speed', state.speed);
          car.see('doorsState.opening.Driver.state', state.door ? 'Open' : 'Closed');
        };
        // Every car of this rig sends its state once when it is created.
        state.silent = 0;
        say();
        const resumed = car.remotes.resume();
        return {
          car,
          say,
          commit,
          resumed,
          die: () => {
            alive = false;
            car.remotes.stop();
          },
        };
      };

      let run = start(undefined);
      const pass = async (ms: number): Promise<void> => {
        for (let rest = ms; rest > 0; rest -= 1_000) {
          run.say();
          if (state.mute) state.silent += Math.min(rest, 1_000);
          await clock.settle(Math.min(rest, 1_000), 500);
        }
      };
      const restart = async (damage?: 'file' | 'commits'): Promise<void> => {
        run.die();
        left = Number.POSITIVE_INFINITY;
        run = start(damage);
        await pass(1_000);
        // The agent sends hello, which is a separate commit.
        run.commit();
        cuts++;
      };
      for (const next of steps) {
        switch (next.do) {
          case 'send': {
            const [kind, body] = wishes[next.wish] as (typeof wishes)[number];
            const command = commandOf(clock, kind, body, { expires: clock.now() + next.valid });
            const payload = next.forged ? signed(command, stranger.privateKey) : signed(command);
            sent.push({
              payload,
              id: command.id,
              genuine: !next.forged,
              ago: since(),
              issued: command.issued,
              expires: command.expires,
            });
            void run.car.remotes.intake.receive(payload);
            break;
          }
          case 'again': {
            const old = sent.at(-1 - (next.which % Math.max(1, sent.length)));
            if (old !== undefined) void run.car.remotes.intake.receive(old.payload);
            break;
          }
          case 'pass':
            await pass(next.ms);
            break;
          case 'step':
            clock.step(next.ms);
            // Like an agent that notices the step.
            run.car.status.stepped(next.ms);
            break;
          case 'speed':
            state.speed = next.kmh;
            run.say();
            break;
          case 'door':
            state.door = next.open;
            run.say();
            break;
          case 'silence':
            state.mute = next.on;
            break;
          case 'obey':
            state.obeys = next.on;
            break;
          case 'cut':
            left = next.after;
            await pass(2_000);
            await restart();
            break;
          case 'slow':
            state.slow = next.ms;
            break;
          case 'damage':
            // Nothing is guaranteed if the clock was set back by more than the allowed difference.
            await restart(sent.every(({ issued }) => issued <= clock.now() + SKEW) ? next.what : 'file');
            break;
        }
        run.say();
        await clock.settle(100, 100);
      }
      state.slow = 0;
      await pass(60_000);
      // A program may have become due just now.
      if (onDisk().unfinished().length > 0) await pass(10_000);
      await run.resumed;
      run.die();

      expect(breaches).toEqual([]);
      const genuine = new Map(sent.filter((command) => command.genuine).map((command) => [command.id, command]));
      for (const { id, action, at } of done) {
        expect(id, `${action} belongs to no command on disk`).toBeDefined();
        const command = genuine.get(id as string);
        const own = (id as string).includes('@');
        expect(command !== undefined || own, `${action} of ${id} was never signed`).toBe(true);
        if (command !== undefined) expect(at, `${action} of ${id} came late`).toBeLessThanOrEqual(command.expires);
      }
      const once = done.map(({ id, action }) => `${id} ${action}`);
      expect(new Set(once).size, `twice: ${once.join(', ')}`).toBe(once.length);
      const finals = new Map<string, Set<string>>();
      for (const { remoteActionId, status, failureCause } of published) {
        const states = finals.get(remoteActionId) ?? new Set();
        finals.set(remoteActionId, states);
        if (['Success', 'AlreadyDone', 'Failed'].includes(status)) states.add(failureCause ?? status);
      }
      for (const [id, states] of finals) {
        if (!forgotten.has(id)) expect([...states], `${id} ended`).toHaveLength(1);
        expect(genuine.has(id) || id.includes('@'), `${id} was answered`).toBe(true);
        ended++;
      }
    }),
    { numRuns: runs(150, 500) },
  );
  // The histories contain enough actions.
  expect(actuations).toBeGreaterThan(100);
  expect(ended).toBeGreaterThan(300);
  expect(cuts).toBeGreaterThan(100);
}, 120_000);
