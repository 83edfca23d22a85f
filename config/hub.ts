/** Loads hub.yaml: validates it and converts it to plain data. */

import { dirname, resolve } from 'node:path';
import { DAY } from '../protocol/calendar.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { dataScopes, type Scope } from '../protocol/interface/operations/scopes.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import type { Kind } from '../protocol/schema/kind.ts';
import { checkAwaited } from './awaited-file.ts';
import { type CallbacksConfiguration, readCallbacks } from './callbacks.ts';
import { credentialPath } from './credentials.ts';
import { readYamlFile } from './document.ts';
import type { Environment } from './environment.ts';
import { type ExitsConfiguration, readExits } from './exits.ts';
import { checkForm } from './faults.ts';
import { Findings } from './findings.ts';
import { hub as formOfHub } from './generated/hub-validator.js';
import {
  checkClients,
  checkProxies,
  checkTiles,
  isLoopback,
  readAddress,
  type UserConfiguration,
  type VehicleConfiguration,
} from './http.ts';
import { type HubInput, hubDefaults, hubSchema } from './hub-schema.ts';
import { type BrokerAddressInput, type BrokerConfiguration, readBroker } from './mqtt.ts';
import { readDuration } from './quantities.ts';

export interface Listen {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
}

/** External broker. */
export interface HubBrokerConfiguration extends BrokerConfiguration {
  readonly group: string;
  readonly receiveMaximum: number;
}

/** Identity provider at which people sign in to the page. */
export interface SignInConfiguration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecretFile?: string;
  readonly scope: string;
  /** Claim that contains the names of fleets. */
  readonly groups: string;
  readonly permits: readonly Scope[];
}

/** Validated hub.yaml with absolute paths. */
export interface HubConfiguration {
  readonly name?: string;
  readonly data: string;
  /** Address of the embedded broker, or an external broker. If omitted, the embedded broker's default address. */
  readonly broker?: Listen | HubBrokerConfiguration;
  /** If omitted, an SQLite file in `data`. */
  readonly database?: { readonly url: string; readonly passwordFile?: string; readonly secretFile?: string };
  /** Days for which readings are also rows for SQL. If omitted, there are no such rows. */
  readonly readings?: number;
  readonly http?: Listen;
  /** Proxies in front of the interface. If omitted, forwarded addresses are ignored. */
  readonly trustedProxies?: readonly string[];
  /** Map tiles of the page. If omitted, the page loads none. */
  readonly tiles?: MapTiles;
  /** Description of cars that send no description themselves. */
  readonly vehicle?: Pick<VehicleConfiguration, 'brand' | 'label' | 'pictures' | 'callCenters'>;
  /** Clients of the user side that need another form of `energy`. */
  readonly clients?: NonNullable<UserConfiguration['clients']>;
  /** If omitted, the hub notifies only public addresses by `https` and `wss`, and sends no push messages. */
  readonly callbacks?: CallbacksConfiguration;
  /** Receivers of the values of all cars. */
  readonly exits?: ExitsConfiguration;
  /** Number of days for which messages are kept, by kind. If omitted, for ever. */
  readonly retention?: Readonly<Partial<Record<Kind, number>>>;
  readonly signIn?: SignInConfiguration;
  /** TLS of broker and interface. If omitted, neither uses TLS. */
  readonly tls?: { readonly names?: readonly string[]; readonly enrolment?: number };
  /** If omitted, metrics are served only on the socket in `data`. */
  readonly metrics?: Listen;
  readonly log: { readonly level: 'error' | 'warn' | 'info' };
}

interface HubReading {
  /** Undefined if a finding is an error. */
  readonly configuration?: HubConfiguration;
  readonly diagnostics: Diagnostic[];
}

/**
 * Loads hub.yaml. Reports all faults of the contents as findings, and throws for none of them. Relative paths are
 * relative to the file; `credential:NAME` is a file that the service manager provides.
 */
export function loadHubConfiguration(path: string, environment: Environment): HubReading {
  const { contents, diagnostics } = readYamlFile(path);
  if (contents === undefined) return { diagnostics };
  const findings = new Findings(path, contents.lines);
  findings.take(diagnostics);
  const { data } = contents;
  if (!checkForm(data, formOfHub, hubSchema, findings) || typeof data !== 'object' || data === null) {
    return { diagnostics: findings.sorted() };
  }
  const beside = (written: string) => credentialPath(written, environment) ?? resolve(dirname(path), written);
  const configuration = read(data as HubInput, beside, findings);
  return { ...(findings.failed ? {} : { configuration }), diagnostics: findings.sorted() };
}

function read(input: HubInput, beside: (path: string) => string, findings: Findings): HubConfiguration {
  const broker = readHubBroker(input, beside, findings);
  const database = readDatabase(input, beside, findings);
  const days = findings.sound('/database') ? input.database?.readings : undefined;
  const readings = days === undefined ? undefined : readDuration(days) / DAY;
  const signIn = readSignIn(input, beside, findings);
  const exits = readExits(input.exits, beside, findings, 'mqtt or influx');
  const retention = findings.sound('/retention') ? input.retention : undefined;
  const tls = findings.sound('/tls') ? input.tls : undefined;
  const http = readListen(input.http?.listen, '/http', findings, tls !== undefined);
  const trustedProxies = findings.sound('/http') ? input.http?.trustedProxies : undefined;
  checkProxies(trustedProxies, findings);
  const tiles = findings.sound('/http') ? input.http?.tiles : undefined;
  checkTiles(tiles, findings);
  const { vehicle, user } = (findings.sound('/http') ? input.http : undefined) ?? {};
  if (user !== undefined) checkClients(user, findings);
  const metrics = readListen(input.metrics?.listen, '/metrics', findings, false);
  return {
    ...defined({ name: input.name }),
    data: beside(typeof input.data === 'string' ? input.data : hubDefaults.data),
    ...defined({ broker, database, readings, http, trustedProxies, tiles, vehicle, clients: user?.clients }),
    ...(input.callbacks === undefined ? {} : { callbacks: readCallbacks(input.callbacks, beside, findings) }),
    ...defined({ exits, retention, signIn, tls, metrics }),
    log: { level: (findings.sound('/log') ? input.log?.level : undefined) ?? hubDefaults.log.level },
  };
}

function readHubBroker(
  { broker: input, tls }: HubInput,
  beside: (path: string) => string,
  findings: Findings,
): HubConfiguration['broker'] {
  if (input === undefined || !findings.sound('/broker')) return undefined;
  const { listen, url, group, receiveMaximum, ...rest } = input;
  if (url === undefined) {
    for (const name of [...Object.keys(rest), 'group', 'receiveMaximum']) {
      if (Object.hasOwn(input, name)) {
        findings.error(`/broker/${name}`, `${name} is for a broker that you run`, 'add url, or remove it');
      }
    }
    return readListen(listen, '/broker', findings, tls !== undefined);
  }
  if (listen !== undefined) {
    findings.error('/broker/listen', 'this is for the embedded broker, and url names another', 'remove listen or url');
  }
  return {
    ...readBroker({ ...rest, url } as BrokerAddressInput, '/broker', beside, findings),
    group: group ?? hubDefaults.broker.group,
    receiveMaximum: receiveMaximum ?? hubDefaults.broker.receiveMaximum,
  };
}

function readDatabase(
  { database: input }: HubInput,
  beside: (path: string) => string,
  findings: Findings,
): HubConfiguration['database'] {
  if (input === undefined || !findings.sound('/database')) return undefined;
  const { url } = input;
  if (url === undefined) {
    for (const name of ['passwordFile', 'secretFile'] as const) {
      if (input[name] === undefined) continue;
      findings.error(`/database/${name}`, `${name} is for PostgreSQL`, 'add url, or remove it');
    }
    return undefined;
  }
  if (!URL.canParse(url) || new URL(url).pathname.length < 2) {
    const fix = 'write e.g. postgres://vigie@db.example:5432/vigie';
    findings.error('/database/url', 'this is not the address of a database', fix);
  } else if (new URL(url).password !== '') {
    findings.error('/database/url', 'the password does not belong into this file', 'move it to a file: passwordFile');
  }
  const secretIn = (member: 'passwordFile' | 'secretFile'): string | undefined => {
    const written = input[member];
    if (written === undefined) return undefined;
    const file = beside(written);
    checkAwaited(`/database/${member}`, file, findings, { secret: true });
    return file;
  };
  return { url, ...defined({ passwordFile: secretIn('passwordFile'), secretFile: secretIn('secretFile') }) };
}

function readSignIn(
  { signIn: input }: HubInput,
  beside: (path: string) => string,
  findings: Findings,
): SignInConfiguration | undefined {
  if (input === undefined || !findings.sound('/signIn')) return undefined;
  const { issuer, clientSecretFile, permits = dataScopes, ...rest } = input;
  const at = '/signIn/issuer';
  if (!URL.canParse(issuer)) findings.error(at, 'this is not an address', 'write e.g. https://login.example');
  else if (new URL(issuer).protocol !== 'https:' && !isLoopback(new URL(issuer).hostname)) {
    findings.error(at, 'others could read on the way who signs in', 'use https');
  }
  const secret = clientSecretFile === undefined ? undefined : beside(clientSecretFile);
  if (secret !== undefined) checkAwaited('/signIn/clientSecretFile', secret, findings, { secret: true });
  return {
    ...hubDefaults.signIn,
    ...rest,
    issuer,
    permits,
    ...defined({ clientSecretFile: secret }),
  };
}

const fixes: Readonly<Record<string, string>> = {
  '/broker': 'add tls, listen on 127.0.0.1, or run a broker and give its url',
  '/http': 'add tls, or listen on 127.0.0.1',
};

/** Returns undefined if `listen` is omitted or has faults. `secure`: true if other machines may reach the address. */
function readListen(listen: string | undefined, at: string, findings: Findings, secure: boolean): Listen | undefined {
  if (listen === undefined || !findings.sound(at)) return undefined;
  const address = readAddress(listen, `${at}/listen`, findings);
  if (!secure && !isLoopback(address.host)) {
    findings.error(
      `${at}/listen`,
      'other machines could reach it without credentials',
      fixes[at] ?? 'listen on 127.0.0.1',
    );
  }
  return address;
}
