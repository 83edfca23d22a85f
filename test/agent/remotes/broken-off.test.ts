/** Actions that were begun and not finished: the car shows whether it obeyed. */
import { expect, test } from 'vitest';
import { BrokenOff } from '../../../agent/actuators.ts';
import { Ledger } from '../../../agent/remotes/ledger.ts';
import type { Command } from '../../../protocol/command.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { RemoteReport } from '../../../protocol/schema/remote.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import { carOf, disk } from './rig.ts';

const off = new VigieError('command.actuation', 'the bus is off');
const drives = new VigieError('command.vehicleInUse', 'it drives');

function breaking(error: Error, obeys: boolean) {
  const told: { readonly state: string; readonly detail: string | undefined; readonly at: number }[] = [];
  const car: ReturnType<typeof carOf> = carOf({
    publisher: {
      secure: async (_kind, body) => {
        const { status, failureCause, detail } = body as RemoteReport;
        told.push({ state: failureCause ?? status, detail, at: car.clock.monotonic() });
      },
    },
    actuate: async () => {
      if (obeys) car.clock.after(300, () => car.see('doorsState.lockedStates', ['Locked']));
      throw error;
    },
  });
  return { car, told };
}

test.each([
  ['obeyed before the action broke off succeeds', new BrokenOff(drives), true, 'Success', 300],
  [
    'does not obey fails at its time-out with the cause of the break',
    new BrokenOff(drives),
    false,
    'VehicleInUse',
    3_000,
  ],
  ['does not obey fails with the error of its bus', new BrokenOff(off), false, 'VehicleError', 3_000],
  ['was not asked fails at once', drives, true, 'VehicleInUse', 0],
] as const)('a command to a car that %s', async (_, error, obeys, outcome, after) => {
  const { car, told } = breaking(error, obeys);
  await car.order('Doors', { state: 'Locked' });
  expect(told.map(({ state }) => state)).toEqual(['Accepted', 'SentToVehicle', outcome]);
  const last = told.at(-1);
  expect((last?.at ?? 0) - (told[1]?.at ?? 0)).toBe(after);
  expect(last?.detail).toBe(outcome === 'Success' ? undefined : error.message);
});

/** More frames than the test waits for. If a check is missing, all are sent and the test fails. */
const FRAMES = 20;

/** A car that gets one frame every 100 ms, each checked separately, and never obeys. */
function repeating() {
  const frames: number[] = [];
  const car: ReturnType<typeof carOf> = carOf({
    obeys: false,
    actuate: async (_action, allowed) => {
      for (let sent = 0; sent < FRAMES; sent++) {
        try {
          allowed?.();
        } catch (error) {
          throw sent === 0 ? error : new BrokenOff(error as VigieError);
        }
        frames.push(car.clock.monotonic());
        await new Promise<void>((resolve) => car.clock.after(100, resolve));
      }
    },
  });
  return { car, frames };
}

test.each<[string, (car: ReturnType<typeof carOf>) => void, Partial<Command>, string]>([
  ['the car drives off', (car) => car.see('kinetic.speed', 30), {}, 'VehicleInUse'],
  ['the speed is not known any more', (car) => car.clock.stall(6_000), {}, 'VehicleInUse'],
  ['the car is declared stolen', (car) => car.steal('Declared'), {}, 'NotPossibleDueToVehicleStolenState'],
  ['full privacy is chosen', (car) => car.see('privacy.state', 'Full'), {}, 'NotPossibleDueToVehiclePrivacyLevel'],
  ['the command expires', () => undefined, { expires: 350 }, 'VehicleConnectionTimeout'],
])('no frame is repeated after %s', async (_, happens, { expires = 30_000 }, cause) => {
  const { car, frames } = repeating();
  car.see('doorsState.lockedStates', ['Locked']);
  car.clock.after(350, () => happens(car));
  const states = await car.order('Doors', { state: 'Unlocked' }, { expires: car.clock.now() + expires });
  expect(states).toEqual(['Accepted', 'SentToVehicle', cause]);
  expect(frames).toHaveLength(3);
});

test('an agent that stops sends nothing more and leaves the outcome to the next start', async () => {
  const { car, frames } = repeating();
  car.clock.after(350, () => car.remotes.stop());
  await car.order('Doors', { state: 'Locked' });
  expect(frames).toHaveLength(3);
  const next = new Ledger(disk());
  next.recall({ recall: (key) => car.memory.get(key) });
  expect(next.unfinished()).toMatchObject([{ status: 'SentToVehicle' }]);
});

test('privacy that begins during a command is its cause, although it also hides the speed for the interlock', async () => {
  const car: ReturnType<typeof carOf> = carOf({
    obeys: false,
    actuate: async (_action, allowed) => {
      car.see('privacy.state', 'Full');
      car.status.remove(slotByPath.get('kinetic.speed') as Slot, car.clock.now());
      allowed?.();
    },
  });
  const states = await car.order('Horn', { state: 'Activated' });
  expect(states.at(-1)).toBe('NotPossibleDueToVehiclePrivacyLevel');
});
