/** Health endpoint of a hub, which needs no credentials. */
import { expect, test } from 'vitest';
import type { Gate } from '../../../adapters/http/access/credentials.ts';
import { addHealth } from '../../../hub/http/health.ts';
import { startRig } from '../../adapters/http/rig.ts';
import { VirtualClock } from '../../rig/clock.ts';

const closed: Gate = {
  challenge: 'Basic',
  admit: () => Promise.reject(new Error('a caller without credentials was asked for some')),
};

test('/health answers callers without credentials and queries the database at most once a second', async () => {
  const clock = new VirtualClock();
  let [asked, isFailing] = [0, true];
  const { get } = await startRig({
    access: 'hub',
    gates: { fleet: closed, user: closed },
    routes: (router) =>
      addHealth(
        router,
        async () => {
          asked++;
          if (isFailing) throw new Error('cannot connect to database-7.example');
        },
        clock,
      ),
  });
  const ask = () => get('/health');
  expect(await ask()).toMatchObject({ status: 503, json: { status: 'failing' } });
  isFailing = false;
  expect(await ask()).toMatchObject({ status: 503, json: { status: 'failing' } });
  expect(asked).toBe(1);
  clock.advance(1_000);
  const [first, second] = await Promise.all([ask(), ask()]);
  for (const answer of [first, second]) {
    expect(answer).toMatchObject({ status: 200, text: '{"status":"ok"}\n', headers: { 'cache-control': 'no-store' } });
  }
  expect(asked).toBe(2);
});
