/** docs/access.md: who may use which route, from the table of access. */
import { type AccessRow, accessTable, type Principal, type Server } from '../protocol/interface/access.ts';
import { bases } from '../protocol/interface/operation.ts';
import {
  namedScopes,
  reservedScopes,
  type Scope,
  scopeMeanings,
  scopeNames,
} from '../protocol/interface/operations/scopes.ts';
import { carMembers, eventScopes } from '../protocol/interface/visible-members.ts';

const HEAD = `# Who may use what

Generated from the table of access (\`protocol/interface/access.ts\`), by which every server asks every request. A server
does not start with a route that is not listed here. The tests \`test/assembly/car-access-matrix.test.ts\` and
\`test/contracts/hub-access-matrix.ts\` ask all routes of a running car and of a hub on both databases, without a token, with each
single scope, as another fleet and user, and with expired tokens.

- *Required*: without all of these scopes the answer is 403.
- *Optional*: without one of them its members are left out. If no scope is required, the token needs one of the optional scopes;
  \`any\` accepts every published scope.
- Fleet users of a car (HTTP Basic) have no scopes: they may use the whole fleet side. On a bench, and at a hub without a
  registry, the machine itself may do everything.
- A token of a fleet shows cars of its fleets only, a token of a user cars of that user only. Other cars answer 403 or 404.`;

const who: Readonly<Record<Principal, string>> = {
  anyone: 'everybody',
  fleet: 'fleet',
  user: 'user',
  caller: 'fleet or user',
  machine: 'the machine itself',
  token: 'a car with its enrolment token',
  certificate: 'a car with its certificate',
};

const code = (text: string): string => `\`${text}\``;

/** Scopes of commands are listed as one, to keep rows short. */
function listed(scopes: readonly Scope[]): string {
  const commands = scopes.filter((scope) => scope.startsWith('remote:'));
  const others = scopes.filter((scope) => !scope.startsWith('remote:')).map(code);
  if (commands.length === 0) return others.join(', ');
  return [
    ...others,
    commands.some((scope) => reservedScopes.includes(scope)) ? 'every `remote:…`' : 'every published `remote:…`',
  ].join(', ');
}

function rowText({ method, path, principal, scopes: { required, optional, more } }: AccessRow): string {
  const any = [more === true ? 'any' : '', listed(optional)].filter((text) => text !== '').join('; ');
  return `| ${code(`${method} ${path}`)} | ${who[principal]} | ${listed(required)} | ${any} |`;
}

function section(title: string, rows: readonly AccessRow[], note?: string): string {
  const head = ['| route | who | required | optional |', '| --- | --- | --- | --- |'];
  return [`## ${title}`, ...(note === undefined ? [] : ['', note]), '', ...head, ...rows.map(rowText)].join('\n');
}

const at = (server: Server) => (row: AccessRow) => row.servers.includes(server);

export function accessPage(): string {
  const below = (base: string) => accessTable.filter(({ path }) => path.startsWith(`${base}/`));
  const own = accessTable.filter(({ path }) => path === '/live' || path.startsWith('/vigie/'));
  const http = own.filter((row) => at('car')(row) || at('hub')(row));
  const roots = 'The same routes answer without the base, such as';
  return `${[
    HEAD,
    scopesSection(),
    section('Fleet side', below(bases.fleet), `${roots} \`/fleets\`. Scopes are those of tokens of a hub.`),
    section('User side', below(bases.user), `${roots} \`/user\`. Scopes as published (4.17.2).`),
    section('Vigie’s own, in a car', http.filter(at('car'))),
    section('Vigie’s own, at a hub', http.filter(at('hub'))),
    membersSection(),
    section(
      'Page and documents',
      accessTable.filter(
        ({ principal, path }) => principal === 'anyone' && !path.startsWith('/vigie/') && !path.startsWith('/.'),
      ),
    ),
    section('Metrics and status of a car', accessTable.filter(at('car metrics'))),
    section('Metrics and health of a hub', accessTable.filter(at('hub metrics'))),
    section('Enrolment at a hub', accessTable.filter(at('enrolment'))),
  ].join('\n\n')}\n`;
}

function scopesSection(): string {
  const how = (scope: string): string => {
    if (reservedScopes.includes(scope as Scope)) return 'by name, never to a user';
    if (namedScopes.includes(scope as Scope)) return 'by name';
    return scopeNames.includes(scope as Scope) ? 'by name and by `all`' : 'no';
  };
  const rows = Object.entries(scopeMeanings).map(
    ([scope, meaning]) => `| ${code(scope)} | ${meaning} | ${how(scope)} |`,
  );
  return [
    '## Scopes',
    '',
    '| scope | what it permits | `vigie hub token` grants it |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function membersSection(): string {
  const cars = Object.entries(carMembers).map(
    ([name, scope]) => `| ${code('/vigie/v1/vehicles')}: ${code(name)} | ${code(scope)} |`,
  );
  const events = Object.entries(eventScopes).map(
    ([kind, scope]) => `| events and live: ${code(kind)} | ${code(scope)} |`,
  );
  return [
    '## Members of answers at a hub',
    '',
    '| what | needs |',
    '| --- | --- |',
    ...cars,
    ...events,
    '| events and live: `event` of a monitor | `data:telemetry`, `data:position` and the scopes of what it contains; only for the fleet or the user to whom the monitor belongs |',
    '| events and live: `remote`; commands in the audit trail | `data:telemetry`, or the scope of the kind |',
    '| coordinates in all of these, destinations of commands included | `data:position` |',
    '| readings in columns, such as those around a collision | `data:telemetry` and `data:position` |',
    '| values of Status: positions | `data:position` |',
    '| values of Status: all others | `data:telemetry` |',
    '| monitors | the scopes of all data that they watch and report |',
  ].join('\n');
}
