/** Generates docs/access.md: who may use which route, from the access table. */
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

Generated from the table of access (\`protocol/interface/access.ts\`); a server does not start with a route that it lacks.

- *Required*: without all of these scopes the answer is 403.
- *Optional*: without one its members are left out. Without a required scope the token needs one of these; \`any\` accepts
  every published scope.
- Fleet users of a car (HTTP Basic) have no scopes: they may use the whole fleet side. On a bench, and at a hub without a
  registry, the machine itself may do everything.
- Routes without a method are \`GET\`.
- A token shows cars of its fleets or its user only. Other cars answer 403 or 404.`;

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

/** Formats scopes as a list. The scopes of commands are combined into one entry, to keep rows short. */
function listed(scopes: readonly Scope[]): string {
  const commands = scopes.filter((scope) => scope.startsWith('remote:'));
  const others = scopes.filter((scope) => !scope.startsWith('remote:')).map(code);
  if (commands.length === 0) return others.join(', ');
  return [
    ...others,
    commands.some((scope) => reservedScopes.includes(scope)) ? 'every `remote:…`' : 'every published `remote:…`',
  ].join(', ');
}

/** Returns the scope cells of a row. */
function scopeCells({ scopes: { required, optional, more } }: AccessRow): string {
  const any = [more === true ? 'any' : '', listed(optional)].filter((text) => text !== '').join('; ');
  return `${listed(required)} | ${any}`;
}

interface SectionOptions {
  readonly note?: string;
  /** Prefix that is omitted from the paths. */
  readonly base?: string;
}

/** Returns the routes of a section in groups of equal rights. */
function section(title: string, rows: readonly AccessRow[], { note, base = '' }: SectionOptions = {}): string {
  const groups = new Map<string, Map<string, string[]>>();
  const principals = new Set(rows.map(({ principal }) => principal));
  /** If all routes have the same principal, the text of the section names it. */
  const several = principals.size > 1;
  for (const row of rows) {
    const rights = `${several ? `${who[row.principal]} | ` : ''}${scopeCells(row)}`;
    const paths = groups.get(rights) ?? new Map<string, string[]>();
    groups.set(rights, paths);
    const path = row.path.slice(base.length);
    paths.set(path, [...(paths.get(path) ?? []), row.method]);
  }
  const lines = [...groups].map((group) => `| ${group[0]} | ${routesOf([group])} |`);
  const unscoped = rows.every(({ scopes: { required, optional } }) => required.length + optional.length === 0);
  const caller = several ? '' : `Caller: ${[...principals].map((one) => who[one]).join()}.`;
  const routes = several || !unscoped ? '' : `Routes: ${routesOf(groups)}.`;
  const text = [caller, routes, note ?? ''].filter((part) => part !== '').join(' ');
  const head = several
    ? ['| who | required | optional | routes |', '|---|---|---|---|']
    : ['| required | optional | routes |', '|---|---|---|'];
  const table = unscoped && !several ? [] : ['', ...head, ...lines];
  return [`## ${title}`, ...(text === '' ? [] : ['', text]), ...table].join('\n');
}

function routesOf(groups: Iterable<readonly [string, ReadonlyMap<string, readonly string[]>]>): string {
  const routes = [...groups].flatMap(([, paths]) => [...paths]);
  return routes
    .map(([path, methods]) => code(methods.join() === 'GET' ? path : `${methods.join('/')} ${path}`))
    .join(', ');
}

const at = (server: Server) => (row: AccessRow) => row.servers.includes(server);

export function accessPage(): string {
  const own = accessTable.filter(({ path }) => path === '/live' || path.startsWith('/vigie/'));
  const http = own.filter((row) => at('car')(row) || at('hub')(row));
  const side = (base: string): readonly AccessRow[] => accessTable.filter(({ path }) => path.startsWith(`${base}/`));
  const below = (base: string, scopes: string): string =>
    `Below ${code(base)}, and at the root. Scopes are those ${scopes}.`;
  return `${[
    HEAD,
    scopesSection(),
    section('Fleet side', side(bases.fleet), { note: below(bases.fleet, 'of tokens of a hub'), base: bases.fleet }),
    section('User side', side(bases.user), { note: below(bases.user, 'published in 4.17.2'), base: bases.user }),
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
    section('Socket in the directory of a hub', accessTable.filter(at('hub socket'))),
    section('Enrolment at a hub', accessTable.filter(at('enrolment'))),
  ].join('\n\n')}\n`;
}

function scopesSection(): string {
  const note = (scope: string): string => {
    if (reservedScopes.includes(scope as Scope)) return ' (by name, never to a user)';
    if (namedScopes.includes(scope as Scope)) return ' (by name)';
    return scopeNames.includes(scope as Scope) ? '' : ' (not granted)';
  };
  const lines = Object.entries(scopeMeanings).map(([scope, meaning]) => `- ${code(scope)}${note(scope)}: ${meaning}`);
  const text = '`vigie hub token` grants a scope by its name; `--scopes all` includes those without a note.';
  return ['## Scopes', '', text, '', ...lines].join('\n');
}

function membersSection(): string {
  const needs = (prefix: string, scopes: Readonly<Record<string, Scope>>): readonly string[] =>
    [...new Set(Object.values(scopes))].map((scope) => {
      const names = Object.keys(scopes).filter((name) => scopes[name] === scope);
      return `| ${prefix}: ${names.map(code).join(', ')} | ${code(scope)} |`;
    });
  return [
    ...['## Members of answers at a hub', '', '| what | needs |', '|---|---|'],
    ...needs(code('/vigie/v1/vehicles'), { ...carMembers, unregistered: 'hub:status:read' }),
    ...needs('events and live', eventScopes),
    '| events and live: `event` of a monitor | `data:telemetry`, `data:position` and the scopes of what it contains; only for the fleet or user that owns the monitor |',
    '| events and live: `remote`; commands in the audit trail | `data:telemetry`, or the scope of the kind |',
    '| coordinates in all of these, destinations of commands; positions in Status | `data:position` |',
    '| readings in columns, such as those around a collision | `data:telemetry` and `data:position` |',
    '| other values of Status | `data:telemetry` |',
    '| monitors | the scopes of all data that they watch and report |',
  ].join('\n');
}
