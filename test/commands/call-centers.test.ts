/** Call centres for stolen cars: configured in vigie.yaml, shown to users by country. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { InterfaceBench } from '../rig/interface.ts';
import { Gates } from '../rig/interface-gates.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-call-centers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(callCenters: string, keys: readonly string[] = []) {
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
  user: { issuer: 'https://issuer.example', audience: vigie, keys: [${keys.join(', ')}], subjects: [anna] }
  vehicle: { callCenters: ${callCenters} }
`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  return { http: configuration?.http, found: diagnostics.map(({ message, fix }) => `${message} (${fix})`) };
}

test('a user gets the number of the configured call centre for the requested country', async () => {
  const gates = await Gates.make();
  onTestFinished(() => gates.remove());
  const { http, found } = load("{ BR: '+55 11 4000 0000', CL: '(600) 123-4567' }", gates.http.user?.keys);
  expect(found).toEqual([]);
  if (http === undefined) throw new Error('the interface is configured');
  const bench = await InterfaceBench.start({ lived: false, http });
  onTestFinished(() => bench.close());
  const { headers } = await gates.user();
  const ask = async (path: string) => (await bench.ask('GET', `/connectedcar/v4${path}`, { headers })).json as never;
  const vehicles = async (query: string) =>
    ((await ask(`/user/vehicles${query}`)) as { _embedded: { vehicles: { id: string; callCenter?: unknown }[] } })
      ._embedded.vehicles;
  const [vehicle] = await vehicles('?country=BR');
  expect(vehicle?.callCenter).toEqual({ stolen: { countryCode: 'BR', phoneNumber: '+55 11 4000 0000' } });
  expect(await ask(`/user/vehicles/${vehicle?.id}?country=CL`)).toMatchObject({
    callCenter: { stolen: { countryCode: 'CL', phoneNumber: '(600) 123-4567' } },
  });
  expect(await ask('/user?country=CL')).toMatchObject({
    _embedded: { vehicles: [{ callCenter: { stolen: { countryCode: 'CL' } } }] },
  });
  // A country without a call centre, and a request without a country.
  expect((await vehicles('?country=AR'))[0]).not.toHaveProperty('callCenter');
  expect((await vehicles(''))[0]).not.toHaveProperty('callCenter');
});

describe('refused call centres', () => {
  test.each([
    ['for a country without call centres', "{ FR: '112' }", /FR/],
    ['with a three-letter country code', "{ BRA: '112' }", /BRA/],
    ['without its number in quotes', '{ BR: +5511 }', /a telephone number in quotes/],
    ['with text instead of a number', '{ BR: call us }', /a telephone number in quotes/],
  ])('a call centre is refused %s', (_, callCenters, said) => {
    const { http, found } = load(callCenters, ['nowhere.pem']);
    expect(http).toBeUndefined();
    expect(found).toContainEqual(expect.stringMatching(said));
  });
});
