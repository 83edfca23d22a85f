/** `vigie hub keys`: the keys that hubs on one PostgreSQL share. */
import { Argument, Command, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { type GroupKeyStore, type KeyFacts, type KeyPurpose, keyPurposes, keysInUse } from '../hub/core/group-keys.ts';
import { hubClock } from '../hub/start/database.ts';
import { GroupKeys } from '../hub/start/group-keys.ts';
import type { HubPlace } from '../hub/start/registry.ts';
import { VigieError } from '../protocol/errors.ts';
import { placeHelp } from './help.ts';
import { durationIn } from './hub-durations.ts';
import { withRegistry } from './hub-registry.ts';
import { formatOf, Lines } from './output.ts';

/** Time for which a replaced key for tokens or pages is still accepted if `--keep` is not given. */
const KEEP = '30d';

export function hubKeysCommand(): Command {
  return new Command('keys')
    .configureHelp(placeHelp)
    .description(
      'lists the keys that the hubs on a PostgreSQL share: for commands, tokens and page tokens. All hubs apply a change within seconds.',
    )
    .addOption(new Option('--format <format>', 'of the list').choices(['ndjson', 'text']))
    .action((options: { readonly format?: string }, command: Command) =>
      withKeys(command, async ({ store, now }) => list(await store.keys(), now(), options.format)),
    )
    .addCommand(renewCommand())
    .addCommand(endCommand());
}

function renewCommand(): Command {
  return new Command('renew')
    .configureHelp(placeHelp)
    .addArgument(new Argument('<purpose>', 'use of the key').choices(keyPurposes))
    .description(
      'makes a key that signs half a minute later at every hub. Cars must trust a new key for commands: copy keys/trust.json; until ' +
        'then the hubs sign with the previous key for them.',
    )
    .option(
      '--keep <time>',
      `how long previous keys are used after that: a number with m, h or d (default: ${KEEP}; for commands, until they are ended)`,
    )
    .action((purpose: KeyPurpose, { keep }: { readonly keep?: string }, command: Command) =>
      withKeys(command, async ({ store, place, clock, log }) => {
        const { data, secretFile } = place;
        const keepMs = keep === undefined && purpose === 'commands' ? undefined : durationIn(keep ?? KEEP, '--keep');
        const keys = await GroupKeys.open({ store, data, secretFile, clock, log });
        process.stdout.write(`${textOf(await keys.renew(purpose, keepMs), clock.now())}\n`);
      }),
    );
}

function endCommand(): Command {
  return new Command('end')
    .configureHelp(placeHelp)
    .argument('<id>', 'id of the key')
    .description('ends a key at once, for example after a theft: nothing that it signed is accepted any more')
    .action((id: string, _options: object, command: Command) =>
      withKeys(command, async ({ store, now }) => {
        const key = (await store.keys()).find((one) => one.id === id);
        if (key === undefined) throw new VigieError('usage.wrong', `there is no key "${id}": vigie hub keys`);
        const others = (await store.keys()).filter((one) => one.id !== id);
        if (keysInUse(others, key.purpose, now()).length === 0) {
          const text = `no other key for ${key.purpose} signs yet: vigie hub keys renew ${key.purpose}, and repeat this half a minute later`;
          throw new VigieError('usage.wrong', text, { where: id });
        }
        await store.end(id, now());
        process.stdout.write(`${id}: ended\n`);
      }),
    );
}

interface Using {
  readonly store: GroupKeyStore;
  readonly place: HubPlace;
  readonly clock: SystemClock | Awaited<ReturnType<typeof hubClock>>;
  readonly log: StreamLog;
  /** Whole UTC ms. */
  readonly now: () => number;
}

/** @throws VigieError `usage.wrong` for a hub on SQLite, whose keys are in files */
async function withKeys(command: Command, work: (using: Using) => Promise<void>): Promise<void> {
  await withRegistry(command, async ({ groupKeys: store }, place) => {
    if (place.database === undefined) {
      throw new VigieError('usage.wrong', 'a hub on SQLite has its keys in files: keys/ and pages.key in --data', {
        where: place.data,
      });
    }
    const clock = await hubClock(place.database, new SystemClock());
    const log = new StreamLog(process.stderr, 'warn');
    await work({ store, place, clock, log, now: () => Math.round(clock.now()) });
  });
}

async function list(keys: readonly KeyFacts[], now: number, format: string | undefined): Promise<void> {
  const lines = new Lines();
  const signing = new Set(keyPurposes.map((purpose) => keysInUse(keys, purpose, now)[0]?.id));
  for (const { id, purpose, kinds, signsFrom, ends } of keys) {
    const shown = { id, purpose, signs: signing.has(id), ...(kinds.length > 0 && { kinds }), signsFrom, ends };
    lines.line(formatOf(format) === 'ndjson' ? JSON.stringify(shown) : textOf({ ...shown, kinds } as KeyFacts, now));
  }
  await lines.flush();
}

function textOf({ id, purpose, signsFrom, ends }: KeyFacts, now: number): string {
  const at = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  return [
    id,
    purpose,
    ...(signsFrom === undefined ? ['from another hub'] : signsFrom === 0 ? [] : [`signs from ${at(signsFrom)}`]),
    ...(ends === undefined ? [] : [`${ends > now ? 'ends' : 'ended'} ${at(ends)}`]),
  ].join(', ');
}
