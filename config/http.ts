/** The `http` section of vigie.yaml: the connected-vehicle interface. */

import { readFileSync } from 'node:fs';
import type { Static, TOptional, TUnsafe } from 'typebox';
import * as Type from 'typebox';
import { defined } from '../protocol/defined.ts';
import { type Country, countries } from '../protocol/interface/countries.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import { type InterfaceSettings, interfaceSettings } from '../protocol/settings.ts';
import { checkAwaited } from './awaited-file.ts';
import { choice, closed, filePath, line, listOf } from './fields.ts';
import type { Findings } from './findings.ts';
import { isNetwork, network } from './networks.ts';
import { members, readSettings } from './settings.ts';

const https = (description: string, expected: string) =>
  line(description, { pattern: '^https?://[^\\s/@?#]+(/[^\\s@?#]*)?$', expected });

const fleetUser = closed('Somebody who works with fleets', {
  name: line('User name of HTTP Basic', {
    pattern: '^[^\\u0000-\\u0020:\\u007f]{1,128}$',
    expected: 'a user name without blanks and colons',
  }),
  passwordFile: filePath('File that contains only the hash of the password'),
  clientId: line('The required `client_id` of the query'),
  fleets: listOf(line('Id of a fleet'), 1, 'Fleets that the user may see'),
  certificate: Type.Optional(line('Subject that the certificate of the client must have, e.g. `O=Example, CN=fleet`')),
});

const userClient = closed('A client of the user side', {
  clientId: line('Its `client_id` in the query'),
  energy: choice(['object', 'list'], 'Form of `energy` in the status: `object` as published, `list` for old clients'),
});

const user = closed('The user side (4.17.2), with bearer tokens; without it there is none', {
  issuer: line('`iss` of the tokens'),
  audience: line('`aud` of the tokens'),
  jwks: Type.Optional(filePath('The keys of the issuer: a JWK Set, as a file or at an https address')),
  keys: Type.Optional(listOf(filePath('A public key (PEM)'), 1, 'The keys of the issuer, instead of jwks')),
  subjects: Type.Optional(listOf(line('`sub` of a token'), 1, 'Who may use this car; by default all of the issuer')),
  clientIds: Type.Optional(listOf(line('A `client_id`'), 1, 'Permitted values of `client_id` in the query')),
  clients: Type.Optional(listOf(userClient, 1, 'Clients that need another form of `energy`')),
});

const callCenters = closed(
  'Call centres for stolen cars by country (ISO 3166-1 alpha-2), for the user side',
  Object.fromEntries(
    countries.map((country) => [
      country,
      Type.Optional(
        line(`Number to call in ${country} when the car was stolen`, {
          pattern: '^\\+?[0-9 ()./-]*[0-9][0-9 ()./-]*$',
          expected: "a telephone number in quotes, such as '+55 11 4000 0000'",
        }),
      ),
    ]),
  ) as Record<Country, TOptional<TUnsafe<string>>>,
);

const vehicleMembers = {
  brand: Type.Optional(line('Make')),
  label: Type.Optional(line('Model')),
  pictures: Type.Optional(listOf(https('A picture', 'the address of a picture'), 1, 'At most 12')),
  callCenters: Type.Optional(callCenters),
};

/** Description of all cars of a hub. The fields have the same names as those for a single car. */
export const vehicleOfHub = Type.Optional(closed('Description of cars that do not tell it themselves', vehicleMembers));

/** Clients of the user side of a hub. */
export const userOfHub = Type.Optional(
  closed('The user side (4.17.2)', { clients: listOf(userClient, 1, 'Clients that need another form of `energy`') }),
);

const vehicle = closed('Description of the car', {
  id: Type.Optional(
    line('Id of the car in addresses; by default made of its VIN', {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      expected: 'an id of letters, digits, - and _',
    }),
  ),
  motorization: Type.Optional(
    choice(['Electric', 'Hybrid', 'Thermic', 'Hydrogen'], 'By default derived from the profile'),
  ),
  ...vehicleMembers,
});

/** Proxies in front of the server of a car or a hub. */
export const trustedProxies = Type.Optional(
  listOf(
    network,
    1,
    'Addresses and networks of proxies before this server: only from these, `Forwarded` and `X-Forwarded-For` are read',
  ),
);

/** Map tiles of the page of a car or a hub. */
export const mapTiles = Type.Optional(
  closed('Tiles of the map of the page; without it the page draws land and borders and loads nothing from elsewhere', {
    url: line('Address of a tile in Web Mercator, with {z}, {x} and {y}', {
      pattern: '^https?://[A-Za-z0-9.:[\\]-]+/[A-Za-z0-9._~/?&=%{}@-]*$',
      expected: 'an address such as https://tiles.example/{z}/{x}/{y}.png',
    }),
    attribution: Type.Optional(line('Words that the map shows, such as its licence')),
  }),
);

export const httpSchema = closed('The connected-vehicle interface over HTTP; without it there is none', {
  listen: line('Address of the server', {
    pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}$',
    expected: 'an address and a port, such as 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8443',
  }),
  url: Type.Optional(https('Address of the server from outside, for links', 'an address such as https://car.example')),
  hosts: Type.Optional(
    listOf(
      line('A name or an address of this server', {
        pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)$',
        expected: 'a name or an address without a port, such as car.local, 203.0.113.7 or [2001:db8::7]',
      }),
      1,
      'Further host names of this server, beside the address of the connection and the names in its certificate',
    ),
  ),
  trustedProxies,
  tls: Type.Optional(
    closed('Needed as soon as others than this machine are to reach it', {
      cert: filePath("The server's certificate (PEM)"),
      key: filePath('Private key of the certificate (PEM)'),
      clientCa: Type.Optional(filePath('Certificates (PEM) of the authorities that clients are checked against')),
    }),
  ),
  fleet: Type.Optional(listOf(fleetUser, 1, 'Users of the fleet side (3.19.2); without it there is none')),
  user: Type.Optional(user),
  vehicle: Type.Optional(vehicle),
  tiles: mapTiles,
  ...members(interfaceSettings),
});

type HttpInput = Static<typeof httpSchema>;

/** Fleet user. `passwordFile` contains a hash. Read it with `readSecret`. */
export type FleetUserConfiguration = Static<typeof fleetUser>;

/** User side of the interface: either `jwks` (an absolute path or a URL) or `keys` is present. */
export type UserConfiguration = Static<typeof user>;

/** Facts about the car that the interface reports. */
export type VehicleConfiguration = Static<typeof vehicle>;

/** The `http` section with absolute paths. */
export interface HttpConfiguration extends InterfaceSettings {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly url?: string;
  /** Names and addresses in addition to those of the server. */
  readonly hosts?: readonly string[];
  /** If omitted, forwarded addresses are ignored. */
  readonly trustedProxies?: readonly string[];
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** At least one of the two sides (`fleet`, `user`) is present. */
  readonly fleet?: readonly FleetUserConfiguration[];
  readonly user?: UserConfiguration;
  readonly vehicle: VehicleConfiguration;
  /** Map tiles of the page. */
  readonly tiles?: MapTiles;
}

/** Reads `http`. `beside` returns absolute paths. Returns undefined if it is omitted or does not match its schema. */
export function readHttp(
  input: HttpInput | undefined,
  beside: (path: string) => string,
  findings: Findings,
): HttpConfiguration | undefined {
  if (input === undefined || !findings.sound('/http')) return undefined;
  const { host, port } = readAddress(input.listen, '/http/listen', findings);
  const tls = input.tls === undefined ? undefined : readTls(input.tls, beside, findings);
  const fleet = input.fleet?.map((one, index) => readFleetUser(one, index, input, beside, findings));
  const users = input.user === undefined ? undefined : readUser(input.user, beside, findings);
  checkAccess(input, host, findings);
  checkTiles(input.tiles, findings);
  checkProxies(input.trustedProxies, findings);
  const settings = readSettings(interfaceSettings, input, '/http', findings);
  return {
    host,
    port,
    ...(input.url === undefined ? {} : { url: input.url.replace(/\/$/, '') }),
    ...defined({ hosts: input.hosts, trustedProxies: input.trustedProxies, tls, fleet, user: users }),
    vehicle: input.vehicle ?? {},
    ...defined({ tiles: input.tiles }),
    ...settings,
  };
}

/** Checks the list at `/http/trustedProxies` of a car or a hub. */
export function checkProxies(proxies: readonly string[] = [], findings: Findings): void {
  for (const [index, one] of proxies.entries()) {
    const at = `/http/trustedProxies/${index}`;
    if (!isNetwork(one)) findings.error(at, `${one} is not a network`, 'write e.g. 127.0.0.1 or 10.0.0.0/24');
    else if (/\/0+$/.test(one)) findings.error(at, 'every client could name any address', "write the proxy's address");
  }
}

/** Parses `host:port`, whose form has been checked. */
export function readAddress(listen: string, at: string, findings: Findings): { host: string; port: number } {
  const split = listen.lastIndexOf(':');
  const port = Number(listen.slice(split + 1));
  if (port > 65_535) findings.error(at, `${port} is not a port`, 'ports are 0 to 65535; 0 selects any free port');
  return { host: listen.slice(0, split).replaceAll(/[[\]]/g, ''), port };
}

/** Returns true for addresses of the machine itself (RFC 6890). */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}

function checkAccess(input: HttpInput, host: string, findings: Findings): void {
  const { fleet, user: users, tls } = input;
  if (fleet === undefined && users === undefined) {
    findings.error(
      '/http',
      'the interface has no users',
      'add fleet or user; without tokens it is for `vigie bench` only',
    );
  }
  if (!isLoopback(host) && tls === undefined) {
    findings.error(
      '/http/listen',
      'others than this machine can reach it, so passwords and tokens would be read on the way',
      'add tls, or listen on 127.0.0.1',
    );
  }
  const twice = repeated((fleet ?? []).map(({ name }) => name));
  if (twice !== undefined) findings.error('/http/fleet', `two users are called ${twice}`, 'give each its own name');
}

export function checkTiles(tiles: MapTiles | undefined, findings: Findings): void {
  for (const [message, fix] of tiles === undefined ? [] : faultsOfTiles(tiles.url)) {
    findings.error('/http/tiles/url', message, fix);
  }
}

/** Returns the faults of a tile URL. A browser's requests for tiles reveal where the car was. */
export function faultsOfTiles(url: string): readonly (readonly [message: string, fix: string])[] {
  const missing = ['{z}', '{x}', '{y}'].filter((part) => !url.includes(part));
  const found: (readonly [string, string])[] = [];
  if (missing.length > 0) {
    found.push([`has no ${missing.join(' and ')}`, 'write an address such as https://tiles.example/{z}/{x}/{y}.png']);
  }
  if (!URL.canParse(url)) found.push(['is not an address', 'write https://, a name and a path']);
  else if (new URL(url).protocol !== 'https:' && !isLoopback(new URL(url).hostname.replaceAll(/[[\]]/g, ''))) {
    found.push(['others could read on the way where the car was', 'use https, or a server on this machine']);
  }
  return found;
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

function readTls(input: NonNullable<HttpInput['tls']>, beside: (path: string) => string, findings: Findings) {
  const { cert, key, clientCa } = input;
  const files = {
    cert: beside(cert),
    key: beside(key),
    ...(clientCa === undefined ? {} : { clientCa: beside(clientCa) }),
  };
  for (const [name, path] of Object.entries(files))
    checkAwaited(`/http/tls/${name}`, path, findings, { secret: name === 'key' });
  return files;
}

function readFleetUser(
  input: NonNullable<HttpInput['fleet']>[number],
  index: number,
  { tls }: HttpInput,
  beside: (path: string) => string,
  findings: Findings,
): FleetUserConfiguration {
  const at = `/http/fleet/${index}`;
  const passwordFile = beside(input.passwordFile);
  if (checkAwaited(`${at}/passwordFile`, passwordFile, findings, { secret: true }))
    checkHash(`${at}/passwordFile`, passwordFile, findings);
  if (input.certificate !== undefined && tls?.clientCa === undefined) {
    findings.error(
      `${at}/certificate`,
      'the server does not request certificates of clients',
      'add clientCa under tls',
    );
  }
  return { ...input, passwordFile };
}

/** Reports a file that does not contain a password hash: the car's disk must not contain passwords. */
function checkHash(at: string, path: string, findings: Findings): void {
  if (/^scrypt\$\d+\$\d+\$\d+\$[\w-]+\$[\w-]+\r?\n?$/.test(readFileSync(path, 'utf8'))) return;
  findings.missing(at, `${path} holds no hash of a password`, 'make it with `vigie keys password`');
}

function readUser(
  input: NonNullable<HttpInput['user']>,
  beside: (path: string) => string,
  findings: Findings,
): UserConfiguration {
  const { jwks, keys, ...rest } = input;
  if ((jwks === undefined) === (keys === undefined)) {
    findings.error('/http/user', 'jwks and keys cannot be combined', 'give either jwks or keys');
  }
  if (input.subjects === undefined) {
    findings.warning(
      '/http/user',
      'every token of the issuer can use this car',
      'list the permitted users under subjects',
    );
  }
  checkClients(input, findings);
  const remote = jwks !== undefined && /^\w+:\/\//.test(jwks);
  if (remote && !/^https:\/\/|^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/.test(jwks)) {
    findings.error(
      '/http/user/jwks',
      'without TLS an attacker on the network could replace the keys',
      'write https://',
    );
  }
  const set = jwks === undefined || remote ? jwks : beside(jwks);
  if (set !== undefined && !remote) checkAwaited('/http/user/jwks', set, findings);
  const files = keys?.map((key) => beside(key));
  for (const [index, path] of (files ?? []).entries()) checkAwaited(`/http/user/keys/${index}`, path, findings);
  return { ...rest, ...defined({ jwks: set, keys: files }) };
}

/** Checks the clients at `/http/user` in the file of a car or a hub. */
export function checkClients(
  { clients = [], clientIds }: Pick<NonNullable<HttpInput['user']>, 'clients' | 'clientIds'>,
  findings: Findings,
): void {
  const ids = clients.map(({ clientId }) => clientId);
  const twice = repeated(ids);
  if (twice !== undefined) {
    findings.error('/http/user/clients', `two clients have the clientId ${twice}`, 'give each client one entry');
  }
  for (const [index, id] of ids.entries()) {
    if (clientIds?.includes(id) === false) {
      findings.error(`/http/user/clients/${index}`, `clientIds does not permit ${id}`, 'add it to clientIds');
    }
  }
}
