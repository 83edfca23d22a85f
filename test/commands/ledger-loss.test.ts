/** A car that has lost the states of commands carries out none of them a second time. */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { downTopic } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { makeKeys, RemoteCar } from './remote-car.ts';

const broker = new AedesRig();
let keys: string;
let car: RemoteCar;
/** Copy of the data directory from before the command. */
let before: string;

beforeAll(async () => {
  keys = await makeKeys();
  await broker.start();
});
afterAll(async () => {
  await broker.stop();
  rmSync(keys, { recursive: true, force: true });
});
beforeEach(async () => {
  car = await RemoteCar.start({ url: broker.url, keys });
  before = `${car.data}-before`;
});
afterEach(async () => {
  await car.close();
  rmSync(before, { recursive: true, force: true });
});

const file = (): string[] => readdirSync(car.data).filter((name) => name.startsWith('remotes.json'));
const lose = (names: readonly string[]): void => {
  for (const name of names) rmSync(join(car.data, name), { recursive: true });
};
const empty = (names: readonly string[]): void => {
  for (const name of names) writeFileSync(join(car.data, name), '');
};
const putBack = (...names: readonly string[]): void => {
  lose(names.filter((name) => existsSync(join(car.data, name))));
  for (const name of names) cpSync(join(before, name), join(car.data, name), { recursive: true });
};

test.each<[string, () => void]>([
  ['both copies of the ledger are missing', () => lose([...file(), 'outbox'])],
  ['the file is empty and the journal is missing', () => [empty(file()), lose(['outbox'])]],
  ['the newest generation of the file and the journal are missing', () => lose(['remotes.json', 'outbox'])],
  ['the journal is missing and the file is older', () => [lose(['outbox']), putBack('remotes.json')]],
  ['the journal is older than the file says', () => putBack('outbox')],
  ['the file is older than the journal says', () => putBack('remotes.json')],
])('a valid command does not run a second time when %s', async (_, happens) => {
  expect(await car.order('Horn', { state: 'Activated' })).toContain('Success');
  await car.halt();
  cpSync(car.data, before, { recursive: true });
  await car.boot();
  await car.pass(15_000);
  const [id, payload] = await car.sign('Doors', { state: 'Locked' });
  await car.cloud.publish(downTopic(car.vin, 'remote'), payload);
  await car.until(() => car.states(id).includes('Success'));
  expect(await car.order('Doors', { state: 'Unlocked' })).toContain('Success');
  await car.halt();
  const { accepted } = car.simulation.commands;
  happens();
  await car.boot();
  await car.cloud.publish(downTopic(car.vin, 'remote'), payload);
  await car.pass(10_000);
  expect(car.simulation.commands.accepted).toBe(accepted);
  // A command issued later runs: later than five minutes after the start, by the clock of its sender.
  const issued = car.clock.now() + 299_000;
  expect(await car.order('Doors', { state: 'Locked' }, { issued, expires: issued + 60_000 })).toContain('Success');
});
