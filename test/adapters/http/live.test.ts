import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { keysOfSet } from '../../../adapters/http/access/token-keys.ts';
import { UserGate } from '../../../adapters/http/access/user.ts';
import { LiveChanges } from '../../../adapters/http/live.ts';
import { Status } from '../../../agent/model/status.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { type Rig, startRig } from './rig.ts';

function slot(path: string): Slot {
  const found = slotByPath.get(path);
  if (found === undefined) throw new Error(`no slot ${path}`);
  return found;
}
const speed = slot('kinetic.speed');
const mileage = slot('odometer.mileage');
const latitude = slot('lastPosition.latitude');
const AT = Date.UTC(2026, 0, 1, 12);

interface Told {
  readonly event: string;
  readonly data: { readonly path: string; readonly value?: unknown; readonly at?: string; readonly stale?: boolean };
}

/** Reads the events of a stream. */
class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #text = '';
  comments = 0;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Returns the next event and skips comments; undefined at the end of the stream. */
  async next(): Promise<Told | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = await this.#chunks.next();
        if (done === true) return undefined;
        this.#text += Buffer.from(value).toString();
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [event, data] = [field('event'), field('data')];
      if (event !== undefined && data !== undefined) return { event, data: JSON.parse(data) as Told['data'] };
      if (lines[0]?.startsWith(':')) this.comments++;
    }
  }
}

async function open(rig: Rig, path = '/live', headers: Record<string, string> = {}): Promise<Reader> {
  const { statusCode, headers: answered, body } = await request(`${rig.url}${path}`, { headers });
  expect([statusCode, answered['content-type']]).toEqual([200, 'text/event-stream']);
  onTestFinished(() => void body.on('error', () => undefined).destroy());
  return new Reader(body);
}

function watched(clock = new SystemClock() as SystemClock | VirtualClock, options = {}) {
  const status = new Status();
  const live = new LiveChanges(status, clock, { pause: 0, ...options });
  status.observe(live);
  return { status, live, clock };
}

describe('a live stream', () => {
  test('begins with the known values and continues with changes', async () => {
    const { status, live } = watched();
    status.write(speed, 50, AT);
    const rig = await startRig({ live });
    for (const path of ['/live', '/connectedcar/v3/live', '/connectedcar/v4/live']) {
      expect(await (await open(rig, path)).next()).toEqual({
        event: 'change',
        data: { path: 'kinetic.speed', value: 50, at: '2026-01-01T12:00:00.000Z', stale: expect.any(Boolean) },
      });
    }
    const reader = await open(rig);
    await reader.next();
    status.write(speed, 51, AT + 1_000);
    expect(await reader.next()).toEqual({
      event: 'change',
      data: { path: 'kinetic.speed', value: 51, at: '2026-01-01T12:00:01.000Z', stale: expect.any(Boolean) },
    });
    status.remove(speed, AT + 2_000);
    expect(await reader.next()).toEqual({
      event: 'removed',
      data: { path: 'kinetic.speed', at: '2026-01-01T12:00:02.000Z' },
    });
  });

  test("begins with the time of each value's last change, not of its last reading, also across restarts", async () => {
    const { status: before } = watched();
    before.write(mileage, 42_000, AT - 60_000);
    const { status, live } = watched();
    status.restore(before.contents());
    status.write(speed, 50, AT);
    // Reading the same value again is not a change.
    status.write(speed, 50, AT + 5_000);
    // Another member of the same object changes.
    status.write(slot('kinetic.moving'), true, AT + 6_000);
    const reader = await open(await startRig({ live }));
    const told = [await reader.next(), await reader.next(), await reader.next()];
    expect(Object.fromEntries(told.map((event) => [event?.data.path, event?.data.at]))).toEqual({
      'odometer.mileage': '2026-01-01T11:59:00.000Z',
      'kinetic.speed': '2026-01-01T12:00:00.000Z',
      'kinetic.moving': '2026-01-01T12:00:06.000Z',
    });
  });

  test('sends corrected times in its first events if the clock became known', async () => {
    const { status, live } = watched();
    status.write(speed, 50, 5_000);
    status.correct(AT, 0, 10_000);
    const reader = await open(await startRig({ live }));
    expect((await reader.next())?.data.at).toBe('2026-01-01T12:00:05.000Z');
  });

  test('marks stale values', async () => {
    const clock = new VirtualClock(AT);
    const { status, live } = watched(clock);
    status.expireAfter(speed, 5_000);
    status.write(speed, 50, AT);
    const rig = await startRig({ live });
    const reader = await open(rig);
    expect((await reader.next())?.data.stale).toBe(false);
    clock.advance(6_000);
    status.sweep(clock.now());
    expect((await reader.next())?.data).toMatchObject({ value: 50, stale: true });
  });

  test('sends a comment as a heartbeat while nothing changes', async () => {
    const clock = new VirtualClock(AT);
    const { status, live } = watched(clock, { heartbeat: 15_000 });
    const rig = await startRig({ live });
    const reader = await open(rig);
    const next = reader.next();
    // Wait until the stream has set its timer.
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(15_000);
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    status.write(speed, 1, AT);
    await next;
    expect(reader.comments).toBe(1);
  });

  test('ends with the server, and is released when its reader disconnects', async () => {
    const { live } = watched();
    const rig = await startRig({ live });
    const gone = await request(`${rig.url}/live`);
    await open(rig);
    expect(live.streams).toBe(2);
    gone.body.on('error', () => undefined).destroy();
    while (live.streams > 1) await new Promise((resolve) => setImmediate(resolve));
    const reader = await open(rig);
    await rig.stop();
    expect(await reader.next()).toBeUndefined();
    expect(live.streams).toBe(0);
  });

  test('is refused beyond the limit and with other methods', async () => {
    const { live } = watched(undefined, { streams: 1 });
    const rig = await startRig({ live });
    await open(rig);
    const { status, headers } = await rig.get('/live');
    expect([status, headers['retry-after']]).toEqual([429, '10']);
    expect((await rig.send('POST', '/live')).status).toBe(405);
    expect((await rig.send('HEAD', '/live')).status).toBe(405);
    expect((await rig.get('/live', { accept: 'application/json' })).status).toBe(406);
    expect(live.streams).toBe(1);
  });
});

test('a slow reader gets the newest values later, and memory does not grow', async () => {
  const clock = new SystemClock();
  const { status, live } = watched(clock);
  // Read the stream directly: the buffers of a socket would hold the first megabyte.
  const reader = live.open(() => true).getReader();
  await reader.read();
  const numbers = slots.filter(({ kind }) => kind === 'quantity').slice(0, 20);
  for (let round = 0; round < 10_000; round++) for (const one of numbers) status.write(one, round, AT + round);
  const { value } = await reader.read();
  const text = Buffer.from(value ?? []).toString();
  const values = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Told['data']] : []));
  expect(values).toHaveLength(numbers.length);
  for (const one of numbers) expect(values).toContainEqual(expect.objectContaining({ path: one.path, value: 9_999 }));
  await reader.cancel();
  expect(live.streams).toBe(0);
});

test('a socket that is not read delays neither the car nor other readers', async () => {
  const { status, live } = watched();
  const rig = await startRig({ live });
  const idle = await request(`${rig.url}/live`);
  onTestFinished(() => void idle.body.on('error', () => undefined).destroy());
  const reader = await open(rig);
  const words = slots.filter(({ kind }) => kind === 'quantity');
  for (let round = 0; round < 300; round++) {
    for (const one of words) status.write(one, round, AT + round);
    status.write(mileage, round, AT);
    let told: Told | undefined;
    do told = await reader.next();
    while (told !== undefined && !(told.data.path === 'odometer.mileage' && told.data.value === round));
  }
  // Nobody has read the idle stream. Its last event must be the newest value.
  const late = new Reader(idle.body);
  let last: unknown;
  do last = (await late.next())?.data;
  while (!(last as Told['data'] | undefined)?.path.startsWith('odometer') || (last as Told['data']).value !== 299);
  expect(last).toMatchObject({ value: 299 });
});

test('a live stream of the user side shows what the scopes allow', async () => {
  const { status, live, clock } = watched();
  status.write(speed, 50, AT);
  status.write(latitude, 48.8, AT);
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = keysOfSet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }), 'set');
  const rig = await startRig({ live, gates: { user: new UserGate({ issuer: 'i', audience: 'a', keys }, clock) } });
  const ask = async (scope: string) => {
    const claims = { iss: 'i', aud: 'a', sub: 's', scope, exp: Math.floor(Date.now() / 1000) + 600 };
    return {
      authorization: `Bearer ${await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)}`,
    };
  };
  expect((await (await open(rig, '/live', await ask('data:position'))).next())?.data.path).toBe(
    'lastPosition.latitude',
  );
  expect((await (await open(rig, '/live', await ask('data:telemetry'))).next())?.data.path).toBe('kinetic.speed');
  expect((await rig.get('/live', await ask('data:trip'))).status).toBe(403);
  expect((await rig.get('/live')).status).toBe(401);
});

test('a live stream ends when its token expires, even if nothing changes', async () => {
  const { status, live, clock } = watched(new VirtualClock(AT));
  if (!(clock instanceof VirtualClock)) throw new Error('not the clock of this test');
  status.write(speed, 50, AT);
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = keysOfSet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }), 'set');
  const rig = await startRig({ live, gates: { user: new UserGate({ issuer: 'i', audience: 'a', keys }, clock) } });
  const claims = { iss: 'i', aud: 'a', sub: 's', scope: 'data:telemetry', exp: AT / 1000 + 70 };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  const reader = await open(rig, '/live', { authorization: `Bearer ${token}` });
  expect((await reader.next())?.data.value).toBe(50);
  // With the clock tolerance the token is valid for 100 s.
  const ended = reader.next();
  clock.advance(99_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(live.streams).toBe(1);
  clock.advance(1);
  expect(await ended).toBeUndefined();
  expect(live.streams).toBe(0);
});
