/** The `exits` section of vigie.yaml. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { loadHubConfiguration } from '../../config/hub.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-exits-'));
  for (const name of ['secret', 'ca.pem']) writeFileSync(join(folder, name), 'x', { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(exits: string) {
  const file = join(folder, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1\nvin: VF30A00000B000042\nprofile: bench\ndata: records\ncan: [{ bus: body, simulated: true }]\nmqtt: { url: mqtt://127.0.0.1:1 }\nexits: ${exits}\n`,
  );
  const { configuration, diagnostics } = loadConfiguration(file, {});
  return { exits: configuration?.exits, found: diagnostics.map(({ message }) => message).join('\n') };
}

test('an InfluxDB of version 1 and of version 2 is read, with absolute paths', () => {
  expect(
    load('{ influx: { url: http://127.0.0.1:8086, database: cars, username: car, passwordFile: secret } }'),
  ).toMatchObject({
    exits: {
      influx: {
        target: { database: 'cars', username: 'car' },
        secretFile: join(folder, 'secret'),
        measurement: 'vigie',
      },
    },
    found: '',
  });
  expect(
    load(
      '{ influx: { url: https://db.example, org: a, bucket: b, tokenFile: secret, ca: ca.pem, measurement: cars } }',
    ),
  ).toMatchObject({
    exits: { influx: { target: { org: 'a', bucket: 'b' }, ca: join(folder, 'ca.pem'), measurement: 'cars' } },
    found: '',
  });
});

test('A Better Routeplanner is read, with its published address', () => {
  expect(load('{ abrp: { tokenFile: secret, apiKeyFile: secret } }')).toMatchObject({
    exits: { abrp: { url: 'https://api.iternio.com', tokenFile: join(folder, 'secret') } },
    found: '',
  });
});

test.each([
  ['{ abrp: { url: http://example.org, tokenFile: secret, apiKeyFile: secret } }', 'unencrypted'],
  ['{ abrp: { tokenFile: missing, apiKeyFile: secret } }', 'missing'],
  ['{}', 'exits have no receiver'],
  ['{ retain: true, influx: { url: http://127.0.0.1:8086, database: a } }', 'retain is for plain topics'],
  ['{ influx: { url: http://127.0.0.1:8086 } }', 'it is not known where the readings go'],
  ['{ influx: { url: http://127.0.0.1:8086, database: a, tokenFile: secret } }', 'tokenFile is for InfluxDB 2'],
  ['{ influx: { url: http://127.0.0.1:8086, org: a, bucket: b, username: u } }', 'username is for InfluxDB 1'],
  ['{ influx: { url: http://127.0.0.1:8086, database: a, username: u } }', 'a user name needs a password'],
  ['{ influx: { url: http://127.0.0.1:8086, database: a, ca: ca.pem } }', 'ca is for TLS'],
  ['{ influx: { url: http://127.0.0.1:8086, org: a, bucket: b, tokenFile: missing } }', 'missing'],
  ['{ influx: { url: http://nas.local, org: a, bucket: b, tokenFile: secret } }', 'unencrypted'],
])('exits %s are reported: %s', (exits, message) => {
  expect(load(exits).found).toContain(message);
});

test('a hub without a receiver is advised of those that a hub has', () => {
  const file = join(folder, 'hub.yaml');
  writeFileSync(file, 'hub: 1\ndata: records\nexits: { scopes: [data:telemetry] }\n');
  const { diagnostics } = loadHubConfiguration(file, {});
  expect(diagnostics).toMatchObject([{ message: 'exits have no receiver', fix: 'add mqtt or influx' }]);
});
