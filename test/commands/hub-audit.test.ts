/** `vigie hub audit --verify` at the database of a hub. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SqliteDatabase } from '../../hub/database/index.ts';
import { databaseFile } from '../../hub/start/folder.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { trip } from '../hub/messages.ts';
import { NORTH, RegisteredHub } from '../hub/registered-hub.ts';
import { vigie } from '../rig/bench.ts';

const rig = new RegisteredHub();
beforeAll(async () => {
  await rig.start();
  await rig.publish(NORTH, ['trip', trip('a')]);
  const bearer = await rig.bearer({ fleets: ['north'], scopes: scopeNames });
  const body = { navigation: { positions: [{ coordinates: [2.294513, 48.858415] }] } };
  expect((await rig.ask(`/vigie/v1/vehicles/${NORTH}/remotes`, bearer, body)).status).toBe(202);
});
afterAll(() => rig.remove());
const audit = (...words: string[]) => vigie('hub', 'audit', ...words, '--data', rig.data);

test('an intact trail has status 0 and its digest, an altered one status 1 and its first broken entry', async () => {
  const intact = await audit('--verify');
  expect([intact.status, intact.stdout]).toEqual([
    0,
    expect.stringMatching(/^intact\n1 entry, 0 of them of forgotten cars\nentry 1: [0-9a-f]{64}\n$/),
  ]);
  const [, digest = ''] = /: ([0-9a-f]{64})/.exec(intact.stdout) ?? [];
  expect((await audit('--verify', '--known', digest)).status).toBe(0);
  const database = await SqliteDatabase.open(databaseFile(rig.data));
  database.run("UPDATE commands SET caller = 'eve'");
  database.close();
  const broken = await audit('--verify');
  expect([broken.status, broken.stdout]).toEqual([
    1,
    expect.stringMatching(/^broken: entry 1 \(command .*\): the command was altered\n/),
  ]);
});

test('wrong use of the command is refused with what to say', async () => {
  for (const [words, said] of [
    [[], 'say --verify'],
    [['--verify', '--known', 'abc'], '64 hexadecimal digits'],
  ] as const) {
    const { status, stderr } = await audit(...words);
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  }
});
