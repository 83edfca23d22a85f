/** `vigie hub token`: creates tokens that admit people and programs to the interface of a hub. */
import { Command, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { type IssuedToken, type Registry, withdrawTokens } from '../hub/core/registry.ts';
import { issueAccess } from '../hub/start/access.ts';
import { hubClock } from '../hub/start/database.ts';
import { tokenKeysOf } from '../hub/start/group-keys.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { dataScopes, namedScopes, reservedScopes, scopeNames } from '../protocol/interface/operations/scopes.ts';
import { placeHelp } from './help.ts';
import { durationIn } from './hub-durations.ts';
import { withRegistry } from './hub-registry.ts';
import { formatOf, Lines } from './output.ts';

/** Value of `--withdraw` that means all tokens. */
const EVERY_TOKEN = 'all';
/** Format of a UUID (RFC 9562). */
const TOKEN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Options {
  readonly fleet?: readonly string[];
  readonly user?: string;
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly for: string;
  readonly list?: boolean;
  readonly withdraw?: string;
  readonly format?: string;
}

export function hubTokenCommand(): Command {
  return new Command('token')
    .configureHelp(placeHelp)
    .description(
      'prints a token, signed by the hub, for the cars of fleets or of a user. Send it as Authorization: Bearer TOKEN; a ' +
        'browser takes it as the password, with any user name.',
    )
    .option('--fleet <fleet...>', 'fleets whose cars it shows')
    .option('--user <user>', 'user whose cars it shows')
    .option('--name <name>', 'who uses it, for the audit trail (default: the user, or the fleets)')
    .option(
      '--scopes <scope...>',
      `what it permits: ${scopeNames.join(', ')}, or all of these; and only if named: ${namedScopes.join(', ')}, of which ` +
        `users cannot have ${reservedScopes.join(', ')} (default: those that begin with data)`,
    )
    .option('--for <time>', 'how long it is good: a number with m, h or d', '8h')
    .option('--list', 'lists the tokens that were printed, with their ids')
    .option(
      '--withdraw <id>',
      'has every hub on the database refuse this token, or with “all” every token, from now on',
    )
    .addOption(new Option('--format <format>', 'of the list').choices(['ndjson', 'text']))
    .action(async (options: Options, command: Command) => {
      await withRegistry(command, async ({ registry, groupKeys }, place) => {
        if (options.list === true) return listTokens(registry, options);
        if (options.withdraw !== undefined) return withdraw(registry, options.withdraw);
        const holder = await holderOf(options, registry);
        const grant = { ...holder, scopes: scopesOf(options), ...timesOf(options) };
        const clock = await hubClock(place.database, new SystemClock());
        const log = new StreamLog(process.stderr, 'warn');
        const keys = await tokenKeysOf(place, { store: groupKeys, clock, log });
        process.stdout.write(`${await issueAccess(keys, registry, grant)}\n`);
      });
    });
}

async function listTokens(registry: Registry, { format }: Options): Promise<void> {
  const lines = new Lines();
  for (const token of await registry.tokens()) {
    lines.line(formatOf(format) === 'ndjson' ? JSON.stringify(token) : textOf(token));
  }
  await lines.flush();
}

/** Withdraws a token. An unknown one, as after a restore, needs no change: a hub admits only tokens in its database. */
async function withdraw(registry: Registry, id: string): Promise<void> {
  if (id === EVERY_TOKEN) {
    process.stdout.write(`${counted(await withdrawTokens(registry, Date.now()), 'token', 'tokens')} withdrawn\n`);
    return;
  }
  if (!TOKEN_ID.test(id)) {
    throw new VigieError('usage.wrong', `"${id}" is not the id of a token: vigie hub token --list`);
  }
  const known = (await registry.tokens()).some((token) => token.id === id);
  await registry.withdrawToken(id, Date.now());
  process.stdout.write(`${id}: withdrawn${known ? '' : ' (not in the list of this hub, which refuses such tokens)'}\n`);
}

/** Formats one token as a human-readable line. */
function textOf({ id, name, fleets, scopes, issued, expires, withdrawn }: IssuedToken): string {
  const at = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  return [
    id,
    name,
    fleets === undefined ? 'user' : `fleet ${fleets.join(' ')}`,
    `scopes ${scopes.join(' ')}`,
    `issued ${at(issued)}`,
    `expires ${at(expires)}`,
    ...(withdrawn === undefined ? [] : [`withdrawn ${at(withdrawn)}`]),
  ].join(', ');
}

async function holderOf(
  { fleet, user, name }: Options,
  registry: Registry,
): Promise<{ name: string; fleets?: readonly string[] }> {
  if ((fleet === undefined) === (user === undefined)) {
    throw new VigieError('usage.wrong', 'say whose cars it shows: either --fleet or --user');
  }
  const [kind, ids] = user === undefined ? (['fleet', fleet ?? []] as const) : (['user', [user]] as const);
  const known = new Set((await registry.owners(kind)).map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) {
    throw new VigieError(
      'usage.wrong',
      `no car was ever added for the ${kind} "${unknown}": vigie hub add VIN --${kind} ${unknown}`,
    );
  }
  if (user !== undefined) {
    if (name !== undefined)
      throw new VigieError('usage.wrong', 'a token for a user has the name of the user: leave --name out');
    return { name: user };
  }
  return { name: name ?? `fleet ${ids.join(' ')}`, fleets: ids };
}

function scopesOf({ scopes = dataScopes }: Options): readonly string[] {
  const known: readonly string[] = [...scopeNames, ...namedScopes, 'all'];
  const named = scopes.flatMap((text) => text.split(','));
  const unknown = named.find((scope) => !known.includes(scope));
  if (unknown === undefined) return [...new Set(named.flatMap((scope) => (scope === 'all' ? scopeNames : [scope])))];
  throw new VigieError('usage.wrong', `there is no scope "${unknown}": use ${known.slice(0, -1).join(', ')}, or all`);
}

function timesOf(options: Options): { issued: number; expires: number } {
  const lasts = durationIn(options.for, '--for');
  const issued = Date.now();
  return { issued, expires: issued + lasts };
}
