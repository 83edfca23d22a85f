/** Records on plain topics: a real store on the disk, and a broker that comes and goes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../adapters/store/index.ts';
import type { OutgoingMessage } from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { openRecordTopics, type RecordTopics } from '../../assembly/record-topics.ts';
import { VigieError } from '../../protocol/errors.ts';
import { NOON, ONE } from '../hub/messages.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

const MINUTES_MS = 600_000;
let folder: string;
let store: Store;
let topics: RecordTopics;
let clock: VirtualClock;
let received: { topic: string; number: number; id: string }[];
let isAway: boolean;
/** Whether the broker acknowledges nothing. */
let isSilent: boolean;

const everything = ['data:telemetry', 'data:position', 'data:trip', 'data:alert', 'data:collision'];

async function start(scopes: readonly string[] = everything): Promise<void> {
  store = await openStore(folder, { log: new MemoryLog() });
  topics = openRecordTopics({
    ...{ vin: ONE, prefix: 'home', store, clock, log: new MemoryLog(), agent: { timeKnown: true } },
    rest: { asleep: false } as Rest,
    sees: (scope) => scopes.includes(scope),
    link: { publish },
  });
  await settled();
}

async function publish({ topic, payload, retain }: OutgoingMessage): Promise<void> {
  if (isAway) throw new VigieError('link.lost', 'the broker is away');
  const { number, record } = JSON.parse(new TextDecoder().decode(payload));
  expect(retain).toBe(false);
  received.push({ topic, number, id: record.id });
  if (isSilent) await new Promise<never>(() => undefined);
}

async function stop(): Promise<void> {
  await topics.close();
  await store.close();
}

/** Waits until no transfer runs and none is due soon. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    await store.outbox.commit();
    clock.advance(MINUTES_MS);
  }
}

function put(collection: string, id: string, more: object = {}): void {
  store.records.put(collection, { id, at: NOON, record: { id, createdAt: NOON, ...more } });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-record-topics-'));
  clock = new VirtualClock(NOON);
  received = [];
  isAway = false;
  isSilent = false;
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test('each record comes once, also those of an outage and of earlier runs', async () => {
  await start();
  put('alert', 'a1', { type: 'EngineFault' });
  await settled();
  expect(received).toEqual([{ topic: `home/${ONE}/records/alert`, number: 0, id: 'a1' }]);
  isAway = true;
  for (const id of ['t1', 't2', 't3']) put('trip', id);
  await settled();
  await stop();
  isAway = false;
  await start();
  put('alert', 'a2');
  await settled();
  expect(received.map(({ id }) => id).sort()).toEqual(['a1', 'a2', 't1', 't2', 't3']);
  const trips = received.filter(({ topic }) => topic.endsWith('/trip'));
  expect(trips.map(({ number }) => number)).toEqual([0, 1, 2]);
});

test('a changed record comes again under a higher number', async () => {
  await start();
  put('trip', 't1');
  await settled();
  put('trip', 't1', { done: true });
  await settled();
  expect(received.map(({ number, id }) => `${id} ${number}`)).toEqual(['t1 0', 't1 1']);
});

test('an exit gets only kinds of records within its scopes', async () => {
  await start(['data:telemetry']);
  for (const kind of ['trip', 'alert', 'collision', 'maintenance', 'alarm', 'fault']) put(kind, `${kind}1`);
  await settled();
  expect(received.map(({ id }) => id).sort()).toEqual(['alarm1', 'fault1', 'maintenance1']);
});

test('a broker that acknowledges nothing delays a stop by three seconds, and gets the record after the next start', async () => {
  await start();
  isSilent = true;
  put('trip', 't1');
  await settled();
  const closed = topics.close();
  clock.advance(3_000);
  await closed;
  await store.close();
  isSilent = false;
  await start();
  expect(received.map(({ number, id }) => `${id} ${number}`)).toEqual(['t1 0', 't1 0']);
});
