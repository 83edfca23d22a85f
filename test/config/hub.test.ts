import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadHubConfiguration } from '../../config/hub.ts';
import { formatDiagnostic } from '../../protocol/diagnostic.ts';
import { dataScopes } from '../../protocol/interface/operations/scopes.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-yaml-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'hub.yaml');
for (const name of ['ca.pem', 'hub.pem', 'hub.key', 'password'])
  writeFileSync(join(folder, name), 'x', { mode: 0o600 });

function load(text: string) {
  writeFileSync(file, text);
  return loadHubConfiguration(file, {});
}

/** Formatted findings with a constant file name. */
function findingsOf(text: string): string[] {
  return load(text).diagnostics.map((diagnostic) => formatDiagnostic(diagnostic).replace(file, 'hub.yaml'));
}

test('a minimal file means a hub with the embedded broker, SQLite and the defaults', () => {
  expect(load('hub: 1\n')).toEqual({
    configuration: { data: '/var/lib/vigie-hub', log: { level: 'warn' } },
    diagnostics: [],
  });
});

test('a proxy of the interface must be an address or a network', () => {
  expect(findingsOf("hub: 1\nhttp: { trustedProxies: ['::/0', 10.0.0.1/33] }\n")).toEqual([
    expect.stringContaining("every client could name any address (write the proxy's address)"),
    expect.stringContaining('10.0.0.1/33 is not a network'),
  ]);
});

test('paths become absolute, and addresses are split', () => {
  const { configuration, diagnostics } = load(`hub: 1
name: hub-1
data: records
broker: { listen: '127.0.0.1:11883' }
http: { listen: '[::1]:0', trustedProxies: [127.0.0.1], tiles: { url: 'https://tiles.example/{z}/{x}/{y}.png' } }
log: { level: info }
`);
  expect(diagnostics).toEqual([]);
  expect(configuration).toEqual({
    name: 'hub-1',
    data: join(folder, 'records'),
    broker: { host: '127.0.0.1', port: 11883 },
    http: { host: '::1', port: 0 },
    trustedProxies: ['127.0.0.1'],
    tiles: { url: 'https://tiles.example/{z}/{x}/{y}.png' },
    log: { level: 'info' },
  });
});

test('an external broker and database can be configured, with certificates and passwords in files', () => {
  const { configuration, diagnostics } = load(`hub: 1
broker:
  url: mqtts://broker.example
  fallbacks: [mqtts://other.example:8883]
  username: hub
  passwordFile: password
  ca: ca.pem
  cert: hub.pem
  key: hub.key
  group: fleet-a
  receiveMaximum: 50
database: { url: 'postgres://vigie@db.example/vigie', passwordFile: password }
`);
  expect(diagnostics).toEqual([]);
  expect(configuration?.broker).toEqual({
    url: 'mqtts://broker.example',
    fallbacks: ['mqtts://other.example:8883'],
    protocol: 'auto',
    username: 'hub',
    passwordFile: join(folder, 'password'),
    ca: join(folder, 'ca.pem'),
    cert: join(folder, 'hub.pem'),
    key: join(folder, 'hub.key'),
    group: 'fleet-a',
    receiveMaximum: 50,
  });
  expect(configuration?.database).toEqual({
    url: 'postgres://vigie@db.example/vigie',
    passwordFile: join(folder, 'password'),
  });
});

test('readings as rows can be configured for some days, with PostgreSQL and with an SQLite file', () => {
  const { configuration, diagnostics } = load('hub: 1\ndatabase: { readings: 30d }\n');
  expect(diagnostics).toEqual([]);
  expect(configuration?.readings).toBe(30);
  expect(configuration?.database).toBeUndefined();
  const both = load("hub: 1\ndatabase: { url: 'postgres://vigie@db.example/vigie', readings: 7d }\n").configuration;
  expect([both?.readings, both?.database]).toEqual([7, { url: 'postgres://vigie@db.example/vigie' }]);
});

test('every fault is listed with its line, the reason and advice', () => {
  expect(
    findingsOf(`hub: 1
brocker: {}
name: hub one
database:
  url: postgres://vigie:secret@db.example/vigie
  passwordFile: gone
http: { listen: '0.0.0.0:8080' }
log: { level: loud }
`),
  ).toEqual([
    expect.stringMatching(/^hub\.yaml:2: error: unknown member "brocker" .*broker/),
    expect.stringMatching(/^hub\.yaml:3: error: name must be a name of letters, digits, dots, - and _, not "hub one"/),
    expect.stringMatching(/^hub\.yaml:5: error: the password does not belong into this file .*passwordFile/),
    expect.stringMatching(/^hub\.yaml:6: error: .*gone cannot be read: .*relative to this file/),
    expect.stringMatching(
      /^hub\.yaml:7: error: other machines could reach it without credentials.*listen on 127\.0\.0\.1/,
    ),
    expect.stringMatching(/^hub\.yaml:8: error: level must be one of error, warn, info, not "loud"/),
  ]);
});

test.each([
  [
    'settings of an external broker without its address',
    'broker: { group: a, ca: ca.pem }',
    [/^hub\.yaml:2: error: ca is for a broker that you run .*add url/, /group is for a broker that you run/],
  ],
  [
    'two brokers at once',
    "broker: { listen: '127.0.0.1:1', url: 'mqtt://b' }",
    [/:2: error: this is for the embedded broker.*remove listen or url/],
  ],
  [
    'certificates for a connection without TLS',
    "broker: { url: 'mqtt://b', ca: ca.pem }",
    [/:2: error: ca is for TLS and this url has none .*mqtts:/],
  ],
  ['an invalid port', "http: { listen: '127.0.0.1:80800' }", [/:2: error: 80800 is not a port/]],
  [
    'a database without a name',
    "database: { url: 'postgres://db.example' }",
    [/:2: error: this is not the address of a database .*write e\.g\. postgres:/],
  ],
  [
    'the password of an SQLite file',
    'database: { passwordFile: password }',
    [/:2: error: passwordFile is for PostgreSQL .*add url/],
  ],
  ['a part of a day', 'database: { readings: 36h }', [/:2: error: readings must be whole days such as 30d, not "36h"/]],
  [
    'a receive maximum that MQTT does not have',
    "broker: { url: 'mqtt://b', receiveMaximum: 0 }",
    [/:2: error: receiveMaximum must be a whole number, at least 1, not 0/],
  ],
  ['a newer format', 'hub: 2', [/format 2 is not one that this version of Vigie reads/]],
])('%s', (_what, text, expected) => {
  const found = findingsOf(text.startsWith('hub:') ? text : `hub: 1\n${text}\n`);
  expect(found).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

test('a missing file is one finding', () => {
  expect(loadHubConfiguration(join(folder, 'none.yaml'), {}).diagnostics).toMatchObject([
    { severity: 'error', message: expect.stringContaining('cannot be read') },
  ]);
});

test('sign-in cannot grant the right to immobilize a car or to declare it stolen', () => {
  for (const scope of ['remote:immobilization:write', 'remote:stolen:write']) {
    const text = `hub: 1\nsignIn: { issuer: 'https://login.example', clientId: vigie, permits: ['${scope}'] }\n`;
    expect(findingsOf(text)).toEqual([expect.stringContaining(scope)]);
  }
});

test('sign-in has defaults, and needs an encrypted address', () => {
  const signInAt = (issuer: string) =>
    `hub: 1\nsignIn: { issuer: '${issuer}', clientId: vigie, clientSecretFile: password }\n`;
  expect(load(signInAt('https://login.example/realms/a')).configuration?.signIn).toEqual({
    issuer: 'https://login.example/realms/a',
    clientId: 'vigie',
    clientSecretFile: join(folder, 'password'),
    scope: 'openid email',
    groups: 'groups',
    permits: dataScopes,
  });
  expect(findingsOf(signInAt('http://127.0.0.1:9000'))).toEqual([]);
  expect(findingsOf(signInAt('http://login.example'))).toEqual([
    expect.stringMatching(/others could read on the way who signs in.*use https/s),
  ]);
});

test('with TLS other machines may connect to broker and interface, and metrics have a separate address', () => {
  const { configuration, diagnostics } = load(`hub: 1
broker: { listen: '0.0.0.0:8883' }
http: { listen: '0.0.0.0:443' }
tls: { names: [hub.example], enrolment: 9443 }
metrics: { listen: '[::1]:9464' }
`);
  expect(diagnostics).toEqual([]);
  expect(configuration).toMatchObject({
    broker: { host: '0.0.0.0', port: 8883 },
    http: { host: '0.0.0.0', port: 443 },
    tls: { names: ['hub.example'], enrolment: 9443 },
    metrics: { host: '::1', port: 9464 },
  });
  expect(load('hub: 1\ntls: {}\n').configuration?.tls).toEqual({});
  expect(findingsOf("hub: 1\ntls: { enrolment: 70000 }\nmetrics: { listen: '0.0.0.0:1' }\n")).toEqual([
    expect.stringMatching(/^hub\.yaml:2: error: .*70000/),
    expect.stringMatching(
      /^hub\.yaml:3: error: other machines could reach it without credentials.*listen on 127\.0\.0\.1/,
    ),
  ]);
});

test('callbacks have the same limits as in the configuration of a car', () => {
  const text = `hub: 1\ncallbacks: { networks: [10.0.0.0/8], allowHttp: true, ca: ca.pem, queueLimit: 200 }\n`;
  expect(load(text).configuration?.callbacks).toEqual({
    networks: ['10.0.0.0/8'],
    allowHttp: true,
    ca: join(folder, 'ca.pem'),
    queueLimit: 200,
  });
  expect(findingsOf('hub: 1\ncallbacks: { networks: [somewhere:1] }\n')).toEqual([
    expect.stringMatching(/network.*192\.168\.1\.0\/24/s),
  ]);
});

test('retention is whole days for kinds of messages, except for kinds that later messages need', () => {
  expect(load('hub: 1\nretention: { telemetry: 90, status: 1 }\n').configuration?.retention).toEqual({
    telemetry: 90,
    status: 1,
  });
  const findings = findingsOf(
    'hub: 1\nretention: { telemetry: 0, waypoint: 1.5, catalog: 3, trips: 4, trip: for ever }\n',
  );
  expect(findingsOf('hub: 1\ncallbacks: { allowHttp: yes }\n')).toEqual([
    'hub.yaml:2: error: allowHttp must be true or false, not "yes" (write true without quotes)',
  ]);
  const kinds =
    'status, telemetry, waypoint, trip, alert, collision, maintenance, alarm, stolen, event, remote, monitor, gap, hello, fault, capture, vehicle';
  expect(findings).toEqual([
    `hub.yaml:2: error: "catalog" must be one of ${kinds}`,
    `hub.yaml:2: error: "trips" must be one of ${kinds}`,
    'hub.yaml:2: error: telemetry must be a whole number of days, at least 1, not 0',
    'hub.yaml:2: error: waypoint must be a whole number of days, not 1.5',
    'hub.yaml:2: error: trip must be a whole number of days, not "for ever" (take it out of quotes if it is in quotes)',
  ]);
});
