/** The `exits.influx` section of vigie.yaml: an InfluxDB that gets every recorded reading. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { defined } from '../protocol/defined.ts';
import { checkAwaited } from './awaited-file.ts';
import { closed, filePath, line } from './fields.ts';
import type { Findings } from './findings.ts';
import { isLoopback } from './http.ts';

const NAMED = '^[^\\u0000-\\u001f\\u007f]{1,200}$';

export const influxSchema = closed('An InfluxDB that gets every recorded reading; see docs/exits.md', {
  url: line('Address of the server', {
    pattern: '^https?://[^\\s@?#"\']+$',
    expected: 'an address such as https://influx.example:8086, without a password',
  }),
  database: Type.Optional(line('Database of InfluxDB 1', { pattern: NAMED })),
  username: Type.Optional(line('User name of InfluxDB 1', { pattern: '^[^\\s:]{1,200}$', expected: 'a user name' })),
  passwordFile: Type.Optional(filePath('File that contains only the password of InfluxDB 1')),
  org: Type.Optional(line('Organization of InfluxDB 2', { pattern: NAMED })),
  bucket: Type.Optional(line('Bucket of InfluxDB 2', { pattern: NAMED })),
  tokenFile: Type.Optional(filePath('File that contains only the token of InfluxDB 2')),
  measurement: Type.Optional(
    line('Name of the measurement; default vigie', {
      pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$',
      expected: 'a name of letters, digits, dots, - and _',
    }),
  ),
  ca: Type.Optional(filePath('Certificates (PEM) of the authorities that the server is checked against')),
});
type InfluxInput = Static<typeof influxSchema>;

/** InfluxDB with absolute paths. */
export interface InfluxConfiguration {
  readonly url: string;
  readonly target:
    | { readonly database: string; readonly username?: string }
    | { readonly org: string; readonly bucket: string };
  /** File with the password or the token. Read it with `readSecret`. */
  readonly secretFile?: string;
  readonly measurement: string;
  readonly ca?: string;
}

/** Reads the section at `at`, which matches its schema. `beside` returns absolute paths. */
export function readInflux(
  input: InfluxInput,
  at: string,
  beside: (path: string) => string,
  findings: Findings,
): InfluxConfiguration {
  const { url, database, username, org, bucket, ca } = input;
  const isFirst = database !== undefined;
  for (const name of isFirst ? (['org', 'bucket', 'tokenFile'] as const) : (['username', 'passwordFile'] as const)) {
    if (input[name] === undefined) continue;
    const [has, lacks] = isFirst ? ['database', '2'] : ['no database', '1'];
    findings.error(`${at}/${name}`, `${name} is for InfluxDB ${lacks}, and there is ${has}`, `remove ${name}`);
  }
  if (!isFirst && (org === undefined || bucket === undefined)) {
    findings.error(at, 'it is not known where the readings go', 'add database (InfluxDB 1), or org and bucket');
  }
  const secret = isFirst ? 'passwordFile' : 'tokenFile';
  const written = input[secret];
  const secretFile = written === undefined ? undefined : beside(written);
  if (secretFile !== undefined) checkAwaited(`${at}/${secret}`, secretFile, findings, { secret: true });
  if (ca !== undefined) checkAwaited(`${at}/ca`, beside(ca), findings);
  checkAddress(input, at, findings);
  if (isFirst && (username === undefined) !== (secretFile === undefined)) {
    findings.error(at, 'a user name needs a password, and a password a user name', 'write both, or none');
  }
  return {
    url,
    target: isFirst ? { database, ...defined({ username }) } : { org: org ?? '', bucket: bucket ?? '' },
    measurement: input.measurement ?? 'vigie',
    ...defined({ secretFile, ca: ca === undefined ? undefined : beside(ca) }),
  };
}

function checkAddress({ url, ca, passwordFile, tokenFile }: InfluxInput, at: string, findings: Findings): void {
  if (!URL.canParse(url)) {
    findings.error(`${at}/url`, 'this is not an address', 'write e.g. https://influx.example:8086');
    return;
  }
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return;
  if (ca !== undefined) findings.error(`${at}/ca`, 'ca is for TLS and this url has none', 'write https:// in url');
  if ((passwordFile ?? tokenFile) !== undefined && !isLoopback(hostname)) {
    findings.warning(`${at}/url`, 'the secret goes over the network unencrypted', 'write https:// in url');
  }
}
