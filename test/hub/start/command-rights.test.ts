/** Token rights for the commands that have no scope in the published interface. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hubCommand } from '../../../commands/hub.ts';
import { dataScopes, scopeNames } from '../../../protocol/interface/operations/scopes.ts';
import { CLIENT, IdentityProvider } from '../../rig/identity-provider.ts';
import { NOON, trip } from '../messages.ts';
import { NORTH, RegisteredHub } from '../registered-hub.ts';

const immobilize = { immobilization: { activate: true } };
const declareStolen = { stolen: { stolen: true } };
const IMMOBILIZATION = 'remote:immobilization:write';
const STOLEN = 'remote:stolen:write';
const REMOTES = `/vigie/v1/vehicles/${NORTH}/remotes`;
const rig = new RegisteredHub();
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  const clientSecretFile = join(rig.data, 'secret');
  writeFileSync(clientSecretFile, CLIENT.secret, { mode: 0o600 });
  const at = { issuer: provider.url, clientId: CLIENT.id, clientSecretFile, scope: 'openid email', groups: 'groups' };
  await rig.start({ signIn: { ...at, permits: ['data:telemetry', IMMOBILIZATION, STOLEN] } });
  provider.register(rig.hub.interface.url);
  await rig.publish(NORTH, ['trip', trip('aa', { done: true, stoppedAt: NOON })]);
});
afterAll(async () => {
  await rig.remove();
  await provider.stop();
});

/** Follows redirects like a browser, with cookies. Returns all cookies. */
async function browse(address: string): Promise<ReadonlyMap<string, string>> {
  const cookies = new Map<string, string>();
  for (let next: string | undefined = address; next !== undefined && !next.endsWith(`${rig.hub.interface.url}/`); ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer: Response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const one of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    next = location === null ? undefined : new URL(location, next).href;
  }
  return cookies;
}

/** Output of `vigie hub`. */
async function said(...words: string[]): Promise<string> {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await hubCommand().parseAsync([...words, '--data', rig.data], { from: 'user' });
    return written.mock.calls.map(([text]) => text).join('');
  } finally {
    written.mockRestore();
  }
}

const scopesOf = (token: string): readonly string[] =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).scope.split(' ');

test('a token with every published scope can neither immobilize a car nor report it stolen', async () => {
  for (const grant of [{ name: 'ada' }, { fleets: ['north'] }]) {
    for (const scopes of [['data:telemetry'], dataScopes, scopeNames]) {
      const token = await rig.bearer({ ...grant, scopes });
      for (const order of [immobilize, declareStolen]) {
        expect([grant, scopes, order, (await rig.ask(REMOTES, token, order)).status]).toEqual([
          grant,
          scopes,
          order,
          403,
        ]);
      }
    }
  }
  expect((await rig.ask(REMOTES, await rig.bearer({ fleets: ['north'], scopes: scopeNames }))).body.remotes).toEqual(
    [],
  );
});

test('a fleet token with the right to one of these commands can send only that command', async () => {
  const immobilizer = await rig.bearer({ fleets: ['north'], scopes: [IMMOBILIZATION] });
  const thief = await rig.bearer({ fleets: ['north'], scopes: [STOLEN] });
  expect((await rig.ask(REMOTES, immobilizer, immobilize)).status).toBe(202);
  expect((await rig.ask(REMOTES, immobilizer, declareStolen)).status).toBe(403);
  expect((await rig.ask(REMOTES, thief, declareStolen)).status).toBe(202);
  expect((await rig.ask(REMOTES, thief, immobilize)).status).toBe(403);
  // A theft report may also prevent the next start.
  const both = { stolen: { immobilization: { activate: true } } };
  expect((await rig.ask(REMOTES, thief, both)).status).toBe(403);
  expect((await rig.ask(REMOTES, immobilizer, both)).status).toBe(403);
  const all = await rig.bearer({ fleets: ['north'], scopes: [STOLEN, IMMOBILIZATION] });
  expect((await rig.ask(REMOTES, all, both)).status).toBe(202);
});

test('the published fleet interface refuses a command without the right to its kind', async () => {
  const target = { webhook: { target: 'https://hooks.example/', name: 'hooks' } };
  const callback = { label: 'outcomes', callback: target, remoteTypes: ['Immobilization', 'Stolen', 'Doors'] };
  const scopes = [...scopeNames, IMMOBILIZATION, STOLEN, 'hub:monitor:write'];
  const owner = await rig.bearer({ fleets: ['north'], scopes });
  const made = await rig.ask('/fleets/north/remote/callbacks', owner, callback);
  expect(made.status).toBe(200);
  const [{ id }] = (await rig.ask('/fleets/north/vehicles', owner)).body._embedded.vehicles;
  const remotes = `/fleets/north/vehicles/${id}/callbacks/${made.body.callbackId}/remotes`;
  for (const [order, needed] of [
    [immobilize, IMMOBILIZATION],
    [declareStolen, STOLEN],
    [{ door: { state: 'Locked' } }, 'remote:door:write'],
  ] as const) {
    const lacking = await rig.bearer({
      fleets: ['north'],
      scopes: [...scopeNames, IMMOBILIZATION, STOLEN].filter((scope) => scope !== needed),
    });
    const refused = await rig.ask(remotes, lacking, order);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining(needed)]);
    expect((await rig.ask(remotes, owner, order)).status).toBe(202);
  }
});

test('a user token never has the right to immobilize, even if it claims it', async () => {
  await expect(rig.bearer({ name: 'ada', scopes: [IMMOBILIZATION] })).rejects.toThrow(IMMOBILIZATION);
  await expect(said('token', '--user', 'ada', '--scopes', IMMOBILIZATION)).rejects.toThrow('only a token for fleets');
  for (const scope of [`${scopeNames.join(' ')} ${IMMOBILIZATION} ${STOLEN}`, [IMMOBILIZATION, STOLEN]]) {
    const forged = await rig.forged('ada', { scope });
    expect((await rig.ask(REMOTES, forged, immobilize)).status).toBe(403);
    expect((await rig.ask(REMOTES, forged, declareStolen)).status).toBe(403);
  }
});

test('a sign-in grants neither right, even if its permits name them', async () => {
  const { url } = rig.hub.interface;
  const cookies = await browse(`${url}/vigie/v1/sign-in`);
  const cookie = `vigie-sign-in=${cookies.get('vigie-sign-in')}`;
  const handed = await fetch(`${url}/vigie/v1/signed-in`, { method: 'POST', headers: { cookie } });
  const { token } = (await handed.json()) as { token: string };
  expect(scopesOf(token)).toEqual(['data:telemetry']);
  expect((await rig.ask(REMOTES, `Bearer ${token}`, immobilize)).status).toBe(403);
});

test('neither the defaults nor --scopes all grant these rights; they must be named for a fleet', async () => {
  const given = [
    await said('token', '--fleet', 'north'),
    await said('token', '--fleet', 'north', '--scopes', 'all'),
    await said('token', '--user', 'ada', '--scopes', 'all'),
  ];
  for (const token of given)
    expect(scopesOf(token)).not.toEqual(expect.arrayContaining([expect.stringMatching(/immob|stolen/)]));
  const named = await said('token', '--fleet', 'north', '--scopes', `data:telemetry,${IMMOBILIZATION}`, STOLEN);
  expect(scopesOf(named)).toEqual(['data:telemetry', IMMOBILIZATION, STOLEN]);
  expect((await rig.ask(REMOTES, `Bearer ${named.trim()}`, immobilize)).status).toBe(202);
});
