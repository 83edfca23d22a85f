/**
 * Command frames that one agent on a real broker sends: to a sleeping bus while another is awake, and to a car that
 * drives off.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FrameBatch, FrameSource } from '../../agent/ports.ts';
import type { Vehicle } from '../../assembly/vehicle.ts';
import { batchOf } from '../adapters/can/dbc/frames.ts';
import { AedesRig } from '../rig/aedes.ts';
import { finalStates, makeKeys, RemoteCar } from './remote-car.ts';

/** A second bus that is awake while it runs: it sends a frame that no profile uses, twice a second. */
class Gateway implements FrameSource {
  readonly buses = ['gateway'];
  #cancel: (() => void) | undefined;
  readonly #after: (delay: number, due: () => void) => () => void;

  constructor(after: (delay: number, due: () => void) => () => void) {
    this.#after = after;
  }

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    const speak = (): void => {
      this.#cancel = this.#after(500, speak);
      receive(batchOf([{ id: 0x7f0, data: Uint8Array.of(0) }]));
    };
    speak();
  }

  async stop(): Promise<void> {
    this.#cancel?.();
  }
}

const broker = new AedesRig();
let keys: string;
beforeAll(async () => {
  await broker.start();
  keys = await makeKeys();
});
afterAll(async () => {
  await broker.remove();
  rmSync(keys, { recursive: true, force: true });
});

test.concurrent.each([
  ['is woken first', [], ['Accepted', 'WakingUpVehicle', 'CheckingVehicle', 'SentToVehicle', 'Success']],
  ['that does not wake up gets no command', ['Network'], ['Accepted', 'WakingUpVehicle', 'VehicleConnectionTimeout']],
] as const)('a sleeping bus next to an awake one %s', async (_, deaf, states) => {
  const car = await RemoteCar.start({
    url: broker.url,
    keys,
    sources: (clock) => [new Gateway((delay, due) => clock.after(delay, due))],
  });
  try {
    car.simulation.inject({ keyPresent: false, network: 'Asleep', deaf: [...deaf] });
    await car.pass(6_000);
    expect(await car.order('Doors', { state: 'Locked' })).toEqual(states);
    // A sleeping bus received only the wake-up frame.
    expect(car.simulation.commands.accepted).toBe(states.length === 5 ? 1 : 0);
  } finally {
    await car.close();
  }
});

/** The horn sounds long enough for the car to drive off meanwhile. */
const persistent = (profile: Vehicle['profile']): Vehicle['profile'] => {
  const horn = profile.commands['horn.on'];
  if (horn?.send === undefined) throw new Error('the bench car has no horn');
  return { ...profile, commands: { ...profile.commands, 'horn.on': { ...horn, send: { ...horn.send, for: 4_500 } } } };
};

test.concurrent('repeated frames stop when the car drives off, and the command fails with that cause', async () => {
  const car = await RemoteCar.start({ url: broker.url, keys, profile: persistent });
  try {
    car.simulation.inject({ deaf: ['Horn'] });
    await car.pass(1_200);
    const id = await car.send('Horn', { state: 'Activated' });
    await car.until(() => car.states(id).includes('SentToVehicle'));
    car.simulation.inject({ rolling: 30 });
    await car.until(() => car.reports(id).some(({ status }) => finalStates.has(status)));
    expect(car.states(id)).toEqual(['Accepted', 'SentToVehicle', 'VehicleInUse']);
  } finally {
    await car.close();
  }
});
