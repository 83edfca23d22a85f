/** PostgreSQL notifications that no hub sent, because another program used the same channel. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import type { News } from '../../../hub/core/ports.ts';
import { PostgresNews } from '../../../hub/database/postgres/news.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { runs } from '../../rig/runs.ts';
import '../../rig/seed.ts';

/** JSON of the right shape with wrong members, other JSON, and plain text. */
const payload = fc.oneof(
  fc
    .record({
      vins: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
      events: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
    })
    .map((news) => JSON.stringify(news)),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '{"vins":[],"events":[0]}',
    '{"vins":[],"events":["7"]}',
    '{"vins":[1],"events":[]}',
  ),
  fc.json(),
  fc.string(),
);

describePeer('initdb', 'news of PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  test('an unreadable notification counts as missed news, and a listener that throws does not block the others', async () => {
    const url = await server.create();
    const clock = new SystemClock();
    const log = new MemoryLog();
    const news = new PostgresNews({ url, after: (delay, due) => clock.after(delay, due), log });
    onTestFinished(() => news.end());
    const arrived: News[] = [];
    let missed = 0;
    let told: () => void = () => undefined;
    const fail = (): never => {
      throw new TypeError('a fault of a listener');
    };
    news.listen({ arrived: fail, missed: fail });
    news.listen({
      arrived: (one) => {
        arrived.push(one);
        told();
      },
      missed: () => {
        missed++;
        told();
      },
    });
    await news.begin();
    const send = async (text: string): Promise<void> => {
      const next = new Promise<void>((resolve) => {
        told = resolve;
      });
      const literal = `'${text.replaceAll('\0', '').replaceAll("'", "''").slice(0, 2_000)}'`;
      await server.execute(url, `SELECT pg_notify('vigie_news', ${literal})`);
      await next;
    };
    await fc.assert(
      fc.asyncProperty(payload, async (text) => {
        const before = missed;
        arrived.length = 0;
        await send(text);
        for (const { vins, events } of arrived) {
          expect(vins.every((vin) => typeof vin === 'string')).toBe(true);
          expect(events.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
        }
        expect(missed - before + arrived.length).toBe(1);
        arrived.length = 0;
        await send('{"vins":["VF3VGEBENCH000001"],"events":[7]}');
        expect(arrived).toEqual([{ vins: ['VF3VGEBENCH000001'], events: [7] }]);
      }),
      { numRuns: runs(60, 400) },
    );
    expect(log.lines).toContainEqual(expect.objectContaining({ event: 'hub.news.failed' }));
  });
});
