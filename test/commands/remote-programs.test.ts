/** Status of preconditioning, from frames to the cloud: who started it, and why an earlier run failed. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { AedesRig } from '../rig/aedes.ts';
import { makeKeys, RemoteCar } from './remote-car.ts';

const broker = new AedesRig();
let car: RemoteCar;

beforeAll(() => broker.start());
afterAll(() => broker.remove());

beforeEach(async () => {
  car = await RemoteCar.start({ url: broker.url, keys: await makeKeys() });
}, 60_000);

afterEach(() => car.close());

type AirConditioning = NonNullable<NonNullable<StatusContents['preconditioning']>['airConditioning']>;

/** Status of the run, without programs and times. */
function shown(): Partial<AirConditioning> {
  const { programs: _, createdAt: __, ...rest } = car.status.preconditioning?.airConditioning ?? { createdAt: 0 };
  return rest;
}

const now = { airConditioning: { immediate: true } };
const off = { airConditioning: { immediate: false } };

/** A program for the next whole minute in Paris, and the wait until then, ms. */
function soon(): { readonly body: object; readonly wait: number } {
  const due = (Math.floor(car.clock.now() / 60_000) + 1) * 60_000;
  const [hour, minute] = new Date(due).toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' }).split(':');
  const program = { slot: 1, enabled: true, start: `PT${Number(hour)}H${Number(minute)}M`, recurrence: 'None' };
  const every = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
  const body = { airConditioning: { programs: [{ ...program, occurence: { day: every } }] } };
  return { body, wait: due - car.clock.now() };
}

test('a program that runs on time reports Scheduled, and the next start by command reports Immediate', async () => {
  expect((await car.order('ThermalPreconditioning', now)).at(-1)).toBe('Success');
  expect(shown()).toEqual({ status: 'Enabled', startingCause: 'Immediate' });
  expect((await car.order('ThermalPreconditioning', off)).at(-1)).toBe('Success');

  const { body, wait } = soon();
  expect((await car.order('ThermalPreconditioning', body)).at(-1)).toBe('Success');
  await car.pass(wait + 3_000);
  expect(shown()).toEqual({ status: 'Enabled', startingCause: 'Scheduled' });

  // Neither a restart nor frames with another cause change the cause of the run.
  await car.halt();
  await car.boot();
  await car.pass(2_000);
  expect(shown()).toEqual({ status: 'Enabled', startingCause: 'Scheduled' });

  expect((await car.order('ThermalPreconditioning', off)).at(-1)).toBe('Success');
  expect((await car.order('ThermalPreconditioning', now)).at(-1)).toBe('Success');
  await car.pass(1_000);
  expect(shown()).toEqual({ status: 'Enabled', startingCause: 'Immediate' });
  expect((await car.order('ThermalPreconditioning', off)).at(-1)).toBe('Success');
}, 60_000);

test('the failure cause of an earlier run is removed by a successful one, and the next failure is reported', async () => {
  const fails = async (fault: string): Promise<void> => {
    car.simulation.inject({ climateFault: fault });
    await car.order('ThermalPreconditioning', now);
    await car.pass(1_000);
    expect(shown()).toMatchObject({ status: 'Failure', failureCause: fault });
    car.simulation.inject({ climateFault: 'None' });
  };
  await fails('LowFuelLevel');
  expect((await car.order('ThermalPreconditioning', now)).at(-1)).toBe('Success');
  await car.pass(1_000);
  expect(shown()).toMatchObject({ status: 'Enabled' });
  expect(shown()).not.toHaveProperty('failureCause');
  expect((await car.order('ThermalPreconditioning', off)).at(-1)).toBe('Success');
  await car.pass(1_000);
  expect(shown()).not.toHaveProperty('failureCause');
  await fails('LowFuelLevel');
}, 60_000);
