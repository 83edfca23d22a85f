/** A broker that sends more at once than the client allows, as Mosquitto 2.0 does with the backlog of a session. */
import { expect, test } from 'vitest';
import { CloudClient } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { obliging, publishHead, ScriptedBroker } from '../../rig/script.ts';

const COUNT = 2_000;
const MOST = 10;
const CONNECT = 1;
const PINGREQ = 12;

const typeOf = (packet: Buffer): number => (packet[0] ?? 0) >> 4;

test('the client reads no more of a backlog than its limit, and stays connected although the ping answer waits behind it', async () => {
  const asked = new Arrivals<true>();
  let connections = 0;
  let acknowledged = 0;
  const broker = await ScriptedBroker.open((packet, socket) => {
    const type = typeOf(packet);
    if (type === CONNECT) connections++;
    if (type === PINGREQ) asked.push(true);
    if (type === 4) acknowledged++;
    const answer = obliging(packet, socket);
    if (type !== CONNECT) return answer;
    return Buffer.concat([
      answer ?? [],
      ...Array<Uint8Array>(COUNT).fill(publishHead(0b010, 'a/b', 0)),
    ] as Uint8Array[]);
  });
  const came = new Arrivals<() => void>();
  let untaken = 0;
  let most = 0;
  const connecting = CloudClient.connect(broker.url, {
    protocol: 4,
    receiveMaximum: MOST,
    keepalive: 1,
    keepsSession: true,
    subscriptions: () => [
      {
        filter: 'a/+',
        receive: () =>
          new Promise<void>((resolve) => {
            most = Math.max(most, ++untaken);
            came.push(() => {
              untaken--;
              resolve();
            });
          }),
      },
    ],
    backoff: { first: 20, longest: 20 },
  });
  // The second ping follows the time limit for the answer to the first.
  for (let questions = 0; questions < 3; questions++) await asked.take();
  for (let taken = 0; taken < COUNT; taken++) (await came.take())();
  const client = await connecting;
  expect({ connections, most }).toEqual({ connections: 1, most: MOST + 1 });
  await client.close();
  expect(acknowledged).toBe(COUNT);
  await broker.close();
});

test('the client does not give up a broker that keeps sending before it answers a ping', async () => {
  let [connections, questions] = [0, 0];
  const answered = new Arrivals<true>();
  const broker = await ScriptedBroker.open((packet, socket) => {
    if (typeOf(packet) === CONNECT) connections++;
    if (typeOf(packet) !== PINGREQ) return obliging(packet, socket);
    if (++questions < 3) return publishHead(0, 'a/b', 0);
    answered.push(true);
    return obliging(packet, socket);
  });
  const client = await CloudClient.connect(broker.url, {
    protocol: 4,
    keepalive: 1,
    backoff: { first: 20, longest: 20 },
  });
  await answered.take();
  expect({ connections, questions }).toEqual({ connections: 1, questions: 3 });
  await client.close();
  await broker.close();
});

test('the client gives up a broker that sends nothing after a ping', async () => {
  let connections = 0;
  const again = new Arrivals<true>();
  const broker = await ScriptedBroker.open((packet, socket) => {
    if (typeOf(packet) === CONNECT && ++connections === 2) again.push(true);
    return typeOf(packet) === PINGREQ ? undefined : obliging(packet, socket);
  });
  const client = await CloudClient.connect(broker.url, {
    protocol: 4,
    keepalive: 1,
    backoff: { first: 20, longest: 20 },
  });
  await again.take();
  expect(connections).toBe(2);
  await client.close();
  await broker.close();
});
