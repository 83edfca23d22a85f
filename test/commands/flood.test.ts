/** Many commands at once: each authentic command ends in one state, and no command acts twice. */
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CommandSigner } from '../../adapters/keys/index.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { downTopic } from '../../protocol/topics.ts';
import { AedesRig } from '../rig/aedes.ts';
import { finalStates, makeKeys, RemoteCar } from './remote-car.ts';

const broker = new AedesRig();
let keys: string;
let others: string;
let car: RemoteCar;

beforeAll(async () => {
  keys = await makeKeys();
  others = await makeKeys();
  await broker.start();
});

afterAll(async () => {
  await broker.stop();
  for (const folder of [keys, others]) rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  car = await RemoteCar.start({ url: broker.url, keys });
});

afterEach(() => car.close());

type Signed = [id: string, payload: Uint8Array];

/** Half of them act on the car. */
const genuine = (count: number): Promise<Signed[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      n % 2 === 0 ? car.sign('Doors', { state: 'Locked' }) : car.sign('WakeUp', {}),
    ),
  );

const publish = (commands: readonly Signed[]): Promise<unknown> =>
  Promise.all(commands.map(([, payload]) => car.cloud.publish(downTopic(car.vin, 'remote'), payload)));

/** Final states of a command. A correct run has exactly one. */
const endsOf = (id: string) => car.reports(id).filter(({ status }) => finalStates.has(status));

/** The car's time after which all commands must have ended, ms. A command is valid for a minute. */
const LONGEST = 70_000;

const ended = async (commands: readonly Signed[]): Promise<void> => {
  const open = (): string[] => commands.flatMap(([id]) => (endsOf(id).length === 0 ? [id] : []));
  for (let passed = 0; passed < LONGEST && open().length > 0; passed += 1_000) await car.pass(1_000);
  expect(open()).toEqual([]);
  // Time for a second answer, which would be wrong.
  await car.pass(3_000);
  expect(commands.filter(([id]) => endsOf(id).length !== 1)).toEqual([]);
  const successes = commands.filter(([id]) => endsOf(id)[0]?.status === 'Success');
  expect([successes.length, car.simulation.commands.accepted]).toEqual([1, 1]);
};

test.each([100, 300])('each of %i signed commands sent at once ends in one state', async (count) => {
  const commands = await genuine(count);
  await publish(commands);
  await ended(commands);
});

test('commands of one key that arrive out of order each end in one state', async () => {
  // Like commands of many senders that share a key: counters are times in ms, and network delays differ.
  const first = car.clock.now();
  const commands = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      car.sign(n % 2 === 0 ? 'Doors' : 'WakeUp', n % 2 === 0 ? { state: 'Locked' } : {}, { counter: first + n * 37 }),
    ),
  );
  await publish(commands.reverse());
  await ended(commands);
});

test('authentic commands among as many forged ones each end in one state, and forged ones in none', async () => {
  const commands = await genuine(300);
  const [, one] = commands[0] as Signed;
  const stranger = await CommandSigner.open(others, 'owner');
  const foreign: Signed[] = [];
  for (let n = 0; n < 75; n++) {
    const issued = car.clock.now();
    const command = { id: `strange-${n}`, vin: car.vin, kind: 'Doors', issued, expires: issued + 60_000 } as const;
    const body = encodeBody('Doors', { state: 'Locked' });
    foreign.push(['strange', await stranger.sign((counter) => encodeCommand({ ...command, body, counter }))]);
    foreign.push(await car.sign('Doors', { state: 'Locked' }, { vin: 'VF3VGEBENCH000009' }));
    foreign.push(['altered', one.map((byte, at) => (at === one.length - 1 - (n % 60) ? byte ^ 1 : byte))]);
    foreign.push(['junk', Uint8Array.from({ length: n * 7 }, (_, at) => (at * n) % 256)]);
  }
  await publish(commands.flatMap((command, n) => [foreign[n] as Signed, command]));
  await ended(commands);
  const reports = car.messages.filter(({ kind }) => kind === 'remote').map(({ body }) => body as RemoteReport);
  expect(new Set(reports.map(({ remoteActionId }) => remoteActionId))).toEqual(new Set(commands.map(([id]) => id)));
});
