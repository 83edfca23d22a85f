/** `vigie export --hub` gets what the token may see, and names what the hub does not have, on any database. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HubOptions } from '../../hub/start/hub.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { slotAt } from '../../protocol/slots.ts';
import { NOON, trip } from '../hub/messages.ts';
import { NORTH, RegisteredHub } from '../hub/registered-hub.ts';
import { vigie } from '../rig/bench.ts';

/** `database` returns the options that choose the database. */
export function hubExportContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`an export from a hub on ${name}`, () => {
    const rig = new RegisteredHub();
    beforeAll(async () => {
      await rig.start(await database());
      const telemetry = (seq: number) =>
        [
          'telemetry',
          telemetryFromReadings([
            { slot: slotAt('kinetic.speed'), value: seq / 10, at: NOON + seq * 1_000 },
            { slot: slotAt('lastPosition.latitude'), value: 48.5, at: NOON + seq * 1_000 },
          ]),
          { seq, boot: 7 },
        ] as const;
      // More messages than one page has.
      const all = Array.from({ length: 620 }, (_, seq) => telemetry(seq)).filter((_, seq) => seq !== 310);
      await rig.publish(NORTH, ...all);
      const point = { at: NOON, latitude: 48.5, longitude: 2.5, type: 'Acquire' };
      await rig.publish(NORTH, ['waypoint', { points: [point] }, { boot: 7 }]);
      await rig.publish(NORTH, ['trip', trip('0123456789abcdef01234567', { done: true, distance: 7 }), { boot: 7 }]);
    }, 60_000);
    afterAll(() => rig.remove());

    async function exported(scopes: readonly string[], ...more: string[]) {
      const token = join(rig.data, 'token');
      writeFileSync(token, (await rig.bearer({ fleets: ['north'], scopes })).replace('Bearer ', ''));
      const output = join(rig.data, 'out');
      const { url } = rig.hub.interface;
      const ended = await vigie('export', NORTH, '--hub', url, '--token-file', token, '-o', output, ...more);
      return { ...ended, output, lines: () => readFileSync(output, 'utf8').trim().split('\r\n') };
    }

    const both = ['data:telemetry', 'data:position'];

    test('all pages are read, and the missing message is named by the number of the car', async () => {
      const { status, stderr, output, lines } = await exported(both);
      expect(status, stderr).toBe(1);
      expect(stderr).toContain('telemetry: 1 message missing: 310');
      expect(lines()).toHaveLength(1 + 619);
      const { classes } = JSON.parse(readFileSync(`${output}.manifest.json`, 'utf8'));
      expect(classes).toContainEqual(
        expect.objectContaining({
          class: 5,
          boots: [
            {
              boot: 7,
              covered: [
                [0, 309],
                [311, 619],
              ],
            },
          ],
          missing: [[310, 310]],
        }),
      );
    });

    test('a period reads only its messages, and misses none at its edges', async () => {
      const { status, stderr, lines } = await exported(
        both,
        '--from',
        '2026-11-10T12:01:40Z',
        '--to',
        '2026-11-10T12:03:20Z',
      );
      expect(status, stderr).toBe(0);
      expect(lines()).toHaveLength(1 + 100);
      expect(lines()[1]).toContain('2026-11-10T12:01:40.000Z');
    });

    test('without the scope of positions no file has one, and the manifest counts what is hidden', async () => {
      const { stderr, lines } = await exported(['data:telemetry']);
      expect(lines()[0]).toBe('time,time [ms],kinetic.speed [km/h]');
      expect(stderr).toContain('way: 1 message that the token may not see');
      const trips = await exported(['data:telemetry'], '--content', 'trips');
      expect(trips.lines()).toHaveLength(1);
      expect((await exported(['data:trip'], '--content', 'trips')).lines()[1]).toContain('0123456789abcdef01234567');
    });

    test('a logbook has the class that was chosen for a trip, and a token without the scope cannot choose', async () => {
      const id = '0123456789abcdef01234567';
      const { url } = rig.hub.interface;
      const choose = async (scopes: readonly string[], tripId: string, to: string) => {
        const authorization = await rig.bearer({ fleets: ['north'], scopes });
        const path = `${url}/vigie/v1/vehicles/${NORTH}/trip-classes/${tripId}?class=${to}`;
        return fetch(path, { method: 'POST', headers: { authorization } });
      };
      const logbook = async () => (await exported(['data:trip'], '--content', 'trips')).lines()[1]?.split(',')[6];
      expect((await choose(['data:trip'], id, 'business')).status).toBe(403);
      expect(await logbook()).toBe('');
      const set = await choose(['data:trip', 'hub:trip:write'], id, 'business');
      expect([set.status, await set.json()]).toEqual([200, { id, class: 'business' }]);
      // The car revises the trip, which keeps its class.
      await rig.publish(NORTH, ['trip', trip(id, { done: true, distance: 8 }), { seq: 1, boot: 7 }]);
      expect(await logbook()).toBe('business');
      expect((await choose(['data:trip', 'hub:trip:write'], id, 'none')).status).toBe(200);
      expect(await logbook()).toBe('');
      expect((await choose(['data:trip', 'hub:trip:write'], 'ff', 'private')).status).toBe(404);
      expect((await choose(['data:trip', 'hub:trip:write'], id, 'pleasure')).status).toBe(400);
    });

    test('a hub that refuses the token says so with the fix', async () => {
      const { url } = rig.hub.interface;
      const ended = await vigie('export', NORTH, '--hub', url, '-o', join(rig.data, 'none'));
      expect(ended.status).toBe(2);
      expect(ended.stderr).toContain('--token-file');
      const wrong = await vigie('export', NORTH, '--hub', 'hub.example', '-o', join(rig.data, 'none'));
      expect(wrong.stderr).toContain('is not the address of a hub');
    });
  });
}
