/** `npm run fleet:requests` with few cars. */
import { expect, test } from 'vitest';
import { fillDatabase } from '../../scripts/fleet/fill.ts';
import { measureRequests } from '../../scripts/fleet/requests.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

const CARS = 5;
const MESSAGES = 200;

describePeer('initdb', 'a database filled for measurements', () => {
  test('contains each message of each car once if filling was stopped and continued, and all pages can be read', async () => {
    const server = await new PostgresRig().start();
    try {
      const url = await server.create();
      const rest = [true, true, false];
      const texts: string[] = [];
      const options = { url, cars: CARS, messages: MESSAGES, portion: 250, say: (text: string) => texts.push(text) };
      expect(await fillDatabase({ ...options, proceed: () => rest.shift() ?? false })).toBe(false);
      expect(texts).toEqual(['250 of 1000 messages', '500 of 1000 messages']);
      expect(await fillDatabase(options)).toBe(true);
      expect(await fillDatabase(options)).toBe(true);

      const [counts] = await server.execute(
        url,
        `SELECT (SELECT count(DISTINCT (vehicle, class, seq)) FROM messages)::int AS messages,
           (SELECT count(*) FROM messages)::int AS rows,
           (SELECT count(*) FROM messages_telemetry_other)::int AS outside,
           (SELECT count(*) FROM records)::int AS records,
           (SELECT sum(n) FROM record_counts WHERE fleet = '')::int AS counted,
           (SELECT sum(n) FROM record_counts WHERE fleet <> '')::int AS of_fleets`,
      );
      const [all, records] = [CARS * MESSAGES, CARS * 161];
      expect(counts).toEqual({ messages: all, rows: all, outside: 0, records, counted: records, of_fleets: records });

      const pages = await measureRequests(url, CARS, 2);
      expect(pages.length).toBeGreaterThan(10);
      for (const { times, statements } of pages) {
        expect(times).toHaveLength(2);
        expect(statements).toBeGreaterThan(1);
      }
    } finally {
      await server.remove();
    }
  });
});
