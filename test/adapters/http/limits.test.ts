import { connect, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { TooManyRequests } from '../../../adapters/http/access/failures.ts';
import { RateLimiter } from '../../../adapters/http/rates.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { echo, handlersOf, startRig } from './rig.ts';

const DAY = 86_400_000;

/** The refusal that a call throws; undefined if it throws none. */
function refusal(call: () => void): TooManyRequests | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof TooManyRequests) return error;
    throw error;
  }
}

describe('rate limits', () => {
  test('are reported with every answer, and refusals contain the time to wait', async () => {
    const clock = new VirtualClock();
    const rig = await startRig({ clock, perDay: 5, perSecond: 3 });
    const first = await rig.get('/fleets');
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-1': '5',
      'x-ratelimit-remaining-1': '4',
      'x-ratelimit-limit-2': '3',
      'x-ratelimit-remaining-2': '2',
    });
    expect((await rig.get('/fleets?pageSize=0')).headers['x-ratelimit-remaining-1']).toBe('3');
    await rig.get('/fleets');
    const burst = await rig.get('/fleets');
    expect(burst.status).toBe(429);
    expect(burst.headers).toMatchObject({
      'retry-after': '2',
      'x-ratelimit-reset': '2',
      'x-ratelimit-remaining-2': '0',
    });
    expect(burst.json).toMatchObject({ code: 42900 });
    clock.advance(2_000);
    await rig.get('/fleets');
    expect((await rig.get('/fleets')).status).toBe(200);
    const used = await rig.get('/fleets');
    expect([used.status, used.headers['x-ratelimit-remaining-1']]).toEqual([429, '0']);
    const wait = Number(used.headers['retry-after']);
    expect(used.headers['x-ratelimit-reset']).toBe(String(wait));
    clock.advance(wait * 1_000 - 1_000);
    expect((await rig.get('/fleets')).status).toBe(429);
    clock.advance(1_000);
    expect((await rig.get('/fleets')).status).toBe(200);
  });

  test('are never exceeded in any window, and end after the announced wait', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 7_200_000 }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 5 }),
        (pauses, day, second) => {
          const clock = new VirtualClock();
          const limiter = new RateLimiter({ perDay: day, perSecond: second }, clock);
          const passed: number[] = [];
          for (const pause of pauses) {
            clock.advance(pause);
            const now = clock.monotonic();
            const within = (length: number) => passed.filter((at) => now - at < length).length;
            const refused = refusal(() => limiter.count('me'));
            if (refused === undefined) {
              expect(within(DAY)).toBeLessThan(day);
              expect(within(1_000)).toBeLessThan(second);
            } else {
              // Requests are counted in slices, so one leaves the window at most one slice late.
              expect(within(DAY + DAY / 96) >= day || within(1_100) >= second).toBe(true);
              clock.advance(refused.retryAfter * 1_000);
              limiter.count('me');
            }
            passed.push(clock.monotonic());
          }
        },
      ),
    );
  });

  test('count each caller separately, in bounded memory', () => {
    const limiter = new RateLimiter({ perDay: 1, perSecond: 1 }, new VirtualClock());
    limiter.count('a');
    limiter.count('b');
    expect(() => limiter.count('a')).toThrow(/try again in/);
    for (let n = 0; n < 5_000; n++) limiter.count(`c${n}`);
  });
});

describe('Idempotency-Key', () => {
  const path = '/connectedcar/v3/fleets/f/vehicles/v/callbacks/ab/remotes';
  const body = { label: 'door', door: { state: 'Locked' } };
  const counting = () => {
    const carried: unknown[] = [];
    const create = (call: Parameters<typeof echo>[0]) => {
      carried.push(call.body);
      return { status: 202, body: { remoteActionId: `r${carried.length}` } };
    };
    return { carried, handlers: handlersOf(operations, { 'fleet.remotes.create': create }) };
  };
  const key = (value: string) => ({ 'idempotency-key': value });

  test('repeats the first answer to an equal request without doing it again', async () => {
    const { carried, handlers } = counting();
    const clock = new VirtualClock();
    const rig = await startRig({ handlers, clock });
    const answers = await Promise.all([1, 2, 3].map(() => rig.send('POST', path, body, key('k1'))));
    expect(answers.map(({ status, text: answer }) => [status, answer])).toEqual(
      new Array(3).fill([202, '{"remoteActionId":"r1"}']),
    );
    expect((await rig.send('POST', path, body, key('k2'))).text).toBe('{"remoteActionId":"r2"}');
    expect((await rig.send('POST', path, body)).text).toBe('{"remoteActionId":"r3"}');
    const elsewhere = await rig.send('POST', path.replace('/ab/', '/cd/'), body, key('k1'));
    expect(elsewhere.text).toBe('{"remoteActionId":"r4"}');
    clock.advance(DAY);
    expect((await rig.send('POST', path, body, key('k1'))).text).toBe('{"remoteActionId":"r5"}');
    expect(carried).toHaveLength(5);
  });

  test('is refused with a different body', async () => {
    const { carried, handlers } = counting();
    const rig = await startRig({ handlers });
    await rig.send('POST', path, body, key('k1'));
    const other = await rig.send('POST', path, { ...body, door: { state: 'Unlocked' } }, key('k1'));
    expect(other.status).toBe(400);
    expect(other.json).toMatchObject({ message: expect.stringContaining('Idempotency-Key') });
    expect(carried).toHaveLength(1);
  });

  test('allows a failed request to be tried again', async () => {
    let fails = true;
    const create = () => {
      if (fails) throw new Error('not now');
      return { status: 202, body: {} };
    };
    const rig = await startRig({ handlers: handlersOf(operations, { 'fleet.remotes.create': create }) });
    expect((await rig.send('POST', path, body, key('k1'))).status).toBe(500);
    fails = false;
    expect((await rig.send('POST', path, body, key('k1'))).status).toBe(202);
  });

  test('is refused if it is not a valid key', async () => {
    const rig = await startRig();
    expect((await rig.send('POST', path, body, key('with blanks'))).status).toBe(400);
    expect((await rig.send('POST', path, body, key('x'.repeat(256)))).status).toBe(400);
  });
});

describe('connections', () => {
  const open = (url: string) => {
    const { hostname, port } = new URL(url);
    return connect(Number(port), hostname);
  };

  test('are closed with a reason if a request does not arrive in time', async () => {
    const rig = await startRig({ bounds: { request: 100 } });
    const headers = open(rig.url);
    headers.write('GET /fleets HTTP/1.1\r\nHost: localh');
    expect(await text(headers)).toMatch(/^HTTP\/1.1 400 .*within 0.1 s/s);
    const body = open(rig.url);
    body.write('PUT /fleets/f/monitors/m/status HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
    body.write('Content-Length: 100\r\n\r\n{"status"');
    expect(await text(body)).toMatch(/^HTTP\/1.1 400 /);
  });

  test('end when the server stops, after the current request', async () => {
    let release: (() => void) | undefined;
    const waiting = (call: Parameters<typeof echo>[0]) =>
      new Promise<ReturnType<typeof echo>>((resolve) => {
        release = () => resolve(echo(call));
      });
    const rig = await startRig({ handlers: handlersOf(operations, { 'fleet.fleets.list': waiting }) });
    const answer = rig.get('/fleets');
    while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
    const stopped = rig.stop();
    release();
    expect((await answer).status).toBe(200);
    await stopped;
    await expect(rig.get('/fleets')).rejects.toThrow();
  });
});

test('the process survives a connection that cannot be accepted', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  await startRig({});
  const server = listen.mock.contexts[0] as Server;
  listen.mockRestore();
  // The error that node:net emits when accept(2) fails. Without a listener, Node would throw it.
  for (let n = 0; n < 2; n++) server.emit('error', new Error('accept ENOMEM'));
  expect(server.listening).toBe(true);
});
