/** `energy: list` for one client: configured in vigie.yaml, requested over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { operationsOf } from '../../protocol/interface/operations.ts';
import { type Answered, InterfaceBench } from '../rig/interface.ts';
import { InterfaceDocument } from '../rig/interface-document.ts';
import { Gates } from '../rig/interface-gates.ts';

interface Energy {
  readonly createdAt: string;
  readonly type: string;
  readonly level: number;
  readonly autonomy: number;
  readonly extension: { readonly electric?: { readonly charging: object; readonly battery: object } };
}
interface Status {
  readonly _links: unknown;
  readonly energies: readonly Energy[];
  readonly energy: unknown;
}

const folder = mkdtempSync(join(tmpdir(), 'vigie-energy-list-'));
const document = new InterfaceDocument();
let gates: Gates;
let bench: InterfaceBench;
let vehicle: string;
beforeAll(async () => {
  gates = await Gates.make();
  bench = await InterfaceBench.start({ http: configured(gates.http.user?.keys ?? []) });
  const { json } = await ask('');
  vehicle = (json as { _embedded: { vehicles: { id: string }[] } })._embedded.vehicles[0]?.id ?? '';
}, 120_000);
afterAll(async () => {
  await bench.close();
  gates.remove();
  rmSync(folder, { recursive: true, force: true });
});

function configured(keys: readonly string[]) {
  const file = join(folder, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1
vin: VF30A00000B000042
profile: bench
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtts://broker.example }
http:
  listen: 127.0.0.1:0
  user:
    issuer: https://issuer.example
    audience: vigie
    keys: [${keys.join(', ')}]
    subjects: [anna]
    clients: [{ clientId: old-app, energy: list }, { clientId: new-app, energy: object }]
`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  expect(diagnostics).toEqual([]);
  if (configuration?.http === undefined) throw new Error('the interface is not configured');
  return configuration.http;
}

async function ask(rest: string): Promise<Answered> {
  const { headers } = await gates.user();
  return bench.ask('GET', `/connectedcar/v4/user/vehicles${rest}`, { headers });
}

async function statusFor(query: string): Promise<Status> {
  const answer = await ask(`/${vehicle}/status${query}`);
  expect(answer.status, answer.text).toBe(200);
  const operation = operationsOf('user').find(({ id }) => id === 'user.status.get');
  if (operation === undefined) throw new Error('the user side has no status');
  expect(document.faultsOf(operation, answer)).toEqual([]);
  return answer.json as Status;
}

test.each([
  ['no client_id', ''],
  ['a client that is not configured', '?client_id=other'],
  ['a client with `energy: object`', '?client_id=new-app'],
  ['more than one client_id', '?client_id=old-app&client_id=new-app'],
])('Status.energy is one object for %s', async (_, query) => {
  const { energy, energies } = await statusFor(query);
  expect(energies.length).toBeGreaterThan(1);
  expect(energies).toContainEqual(energy);
});

test('Status.energy is a list with one entry per energy for a client with `energy: list`', async () => {
  const { energy, energies, _links } = await statusFor('?client_id=old-app');
  expect(energies.map(({ type }) => type).sort()).toEqual(['Electric', 'Fuel']);
  expect(energy).toEqual(
    energies.map(({ type, level, autonomy, createdAt, extension: { electric = {} } }) => ({
      type,
      level,
      autonomy,
      updatedAt: createdAt,
      ...electricMembers(electric),
    })),
  );
  const electric = (energy as (Energy & { updatedAt: string })[]).find(({ type }) => type === 'Electric');
  expect(electric).toMatchObject({
    level: expect.any(Number),
    autonomy: expect.any(Number),
    updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    charging: { plugged: expect.any(Boolean) },
    battery: { capacity: expect.any(Number), load: { residual: expect.any(Number) } },
  });
  expect(_links).toEqual((await statusFor(''))._links);
});

function electricMembers({ charging, battery }: { readonly charging?: object; readonly battery?: object }) {
  return { ...(charging && { charging }), ...(battery && { battery }) };
}
