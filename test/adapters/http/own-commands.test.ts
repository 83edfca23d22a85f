import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { keysOfSet } from '../../../adapters/http/access/token-keys.ts';
import { UserGate } from '../../../adapters/http/access/user.ts';
import type { OwnCommands, OwnView } from '../../../adapters/http/own-routes.ts';
import { Snapshots } from '../../../adapters/http/snapshots.ts';
import type { CommandRequest, CommandsReport } from '../../../protocol/interface/own/commands.ts';
import { startRig } from './rig.ts';

const ADDRESS = '/vigie/v1/commands';

function viewOf(given: CommandRequest[], callers: string[] = []): OwnView {
  const commands: OwnCommands = {
    report: (sees) => ({
      kinds: [{ type: 'Doors', ...(sees('remote:door:write') ? {} : { needs: 'remote:door:write' }), orders: [] }],
    }),
    history: () => [],
    submit: async (request, caller) => {
      given.push(request);
      callers.push(caller);
      return { remoteActionId: '1-1' };
    },
  };
  return {
    car: () => ({ vin: 'VF3VGEOWN00000001', title: '', profile: 'bench', values: [] }),
    link: () => ({ state: 'up', waiting: 0 }),
    commands,
    outbox: () => ({ classes: [] }),
  };
}

test('a command is accepted as JSON, and refused with the name of a missing member', async () => {
  const given: CommandRequest[] = [];
  const rig = await startRig({ own: { view: viewOf(given), snapshots: new Snapshots(new SystemClock()) } });
  const taken = await rig.send('POST', ADDRESS, { type: 'Doors', body: { state: 'Locked' } });
  expect([taken.status, taken.json]).toEqual([202, { remoteActionId: '1-1' }]);
  expect(given).toEqual([{ type: 'Doors', body: { state: 'Locked' } }]);
  for (const [body, named] of [
    [[], 'body'],
    [{ type: 'Fly', body: {} }, 'type'],
    [{ type: 'Doors' }, 'body'],
    [{ type: 'Doors', body: 3 }, 'body'],
  ] as const) {
    const refused = await rig.send('POST', ADDRESS, body);
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([400, expect.stringContaining(named)]);
  }
  expect((await rig.send('POST', ADDRESS, '{"type":', {})).status).toBe(400);
  expect((await rig.send('POST', ADDRESS, 'a', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await rig.send('PUT', ADDRESS, {})).status).toBe(405);
  const asked = await rig.send('POST', `${ADDRESS}?dry=1`, { type: 'Doors', body: { state: 'Locked' } });
  expect([asked.status, JSON.stringify(asked.json)]).toEqual([400, expect.stringContaining('dry: there is no such')]);
  expect(given).toHaveLength(1);
});

test('a user needs the scope for the kind of command, which the refusal names', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = keysOfSet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }), 'keys');
  const clock = new SystemClock();
  const options = { issuer: 'https://issuer.example', audience: 'vigie', keys, timeKnown: () => true };
  const given: CommandRequest[] = [];
  const callers: string[] = [];
  const snapshots = new Snapshots(clock);
  onTestFinished(() => snapshots.close());
  const rig = await startRig({
    gates: { user: new UserGate(options, clock) },
    own: { view: viewOf(given, callers), snapshots },
  });
  const bearer = async (scope: string): Promise<{ authorization: string }> => {
    const token = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer('https://issuer.example')
      .setAudience('vigie')
      .setSubject('somebody')
      .setExpirationTime('1h')
      .sign(privateKey);
    return { authorization: `Bearer ${token}` };
  };
  const doors = { type: 'Doors', body: { state: 'Locked' } };
  expect((await rig.send('POST', ADDRESS, doors)).status).toBe(401);
  const reader = await bearer('data:telemetry');
  const refused = await rig.send('POST', ADDRESS, doors, reader);
  expect([refused.status, JSON.stringify(refused.json)]).toEqual([403, expect.stringContaining('remote:door:write')]);
  // The user side has no immobilization.
  const immobilization = { type: 'Immobilization', body: { activate: true } };
  const all = await bearer('data:telemetry remote:door:write');
  expect((await rig.send('POST', ADDRESS, immobilization, all)).status).toBe(403);
  expect(given).toEqual([]);
  expect((await rig.send('POST', ADDRESS, doors, all)).status).toBe(202);
  expect(callers).toEqual(['somebody']);

  const { body } = await request(`${rig.url}${ADDRESS}`, { headers: reader });
  const chunks = body[Symbol.asyncIterator]();
  const text = String((await chunks.next()).value);
  const report = JSON.parse(/event: commands\ndata: (.*)/.exec(text)?.[1] ?? '') as CommandsReport;
  expect(report.kinds).toEqual([{ type: 'Doors', needs: 'remote:door:write', orders: [] }]);
});
