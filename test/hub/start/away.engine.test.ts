/** Answers of a hub while its PostgreSQL is unreachable. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

const PATHS = ['/fleets', '/fleets/local/vehicles', '/user/vehicles', '/vigie/v1/vehicles'];

describePeer('initdb', 'a hub on PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());

  test('the hub answers 503 with Retry-After while its database is away, and 200 when it is back', async () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-away-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const database = await server.create();
    const hub = await startHub({ data, database, port: 0, http: 0, clock: new SystemClock(), log: new MemoryLog() });
    onTestFinished(() => hub.stop());
    const ask = (path: string): Promise<Response> => fetch(`${hub.interface.url}${path}`);
    await server.kill();
    for (const path of PATHS) {
      const answer = await ask(path);
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(await answer.json()).toMatchObject({ code: 50304, message: 'the database is away' });
    }
    await server.start();
    await server.revive(database);
    for (const path of PATHS) expect([path, (await ask(path)).status]).toEqual([path, 200]);
  });
});
