/** Lets the user confirm the list of keys that a car may trust, after the car has lost changes made by commands. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import {
  type Candidate,
  candidatesOf,
  confirmChanges,
  readTrustChanges,
  readTrustFile,
} from '../adapters/keys/index.ts';
import { lockDirectory, openDocument } from '../adapters/store/index.ts';
import { TRUST } from '../assembly/directory.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { VigieError } from '../protocol/errors.ts';
import { formatOf, Lines } from './output.ts';
import { folderOf } from './status.ts';

interface Options {
  readonly config?: string;
  readonly data?: string;
  readonly trust?: string;
  readonly format?: string;
}

export function confirmCommand(): Command {
  return new Command('confirm')
    .summary('confirms the keys that a car trusts, after the car has lost its list')
    .description(
      `For a unit that trusts no key, because it has lost the changes of keys by commands (\`vigie status\`). \
Without a KEY it shows the list and changes nothing. With KEYs, names or key ids of the list, the car trusts these keys, and \
every other key of the list is revoked permanently. Run it on the unit, while the agent is stopped.`,
    )
    .argument('[keys...]', 'keys that the car trusts from now on')
    .option('-c, --config <file>', 'the configuration, which names the folder of the records')
    .option('--data <dir>', `the folder of the records (default: ${configurationDefaults.data})`)
    .option('--trust <file>', 'the trust file of the configuration (default: the one that the agent used)')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(confirm);
}

async function confirm(names: readonly string[], options: Options): Promise<void> {
  const data = folderOf(options);
  const where = join(data, TRUST);
  if (!existsSync(where)) {
    throw new VigieError('usage.wrong', 'there is no list to confirm; name the folder of the records with --data', {
      where,
    });
  }
  const unlock = lockDirectory(data);
  try {
    const document = await openDocument(where, {}, { accept: readTrustChanges });
    const { unconfirmed } = document.data;
    if (unconfirmed === undefined) {
      throw new VigieError('usage.wrong', 'there is nothing to confirm; start the agent and see `vigie status`', {
        where,
      });
    }
    process.stderr.write(`${where}: ${unconfirmed.why}\n`);
    const file = options.trust ?? unconfirmed.file;
    const candidates = candidatesOf(document.data, file === undefined ? [] : readTrustFile(file), (what) =>
      process.stderr.write(`a key that a command added cannot be read and is left out: ${what}\n`),
    );
    const chosen = new Set(names.map((name) => kidOf(name, candidates)));
    if (chosen.size > 0) await document.write(confirmChanges(document.data, candidates, chosen));
    await show(candidates, chosen, options);
  } finally {
    unlock();
  }
}

/** Returns the key id of a listed key. @throws VigieError `usage.wrong` for an unlisted or prohibited key */
function kidOf(name: string, candidates: readonly Candidate[]): string {
  const found = candidates.filter(({ key }) => key.name === name || key.kid === name.toLowerCase());
  const [one, other] = found.filter(({ revoked }) => !revoked);
  if (one !== undefined && other === undefined) return one.key.kid;
  if (other !== undefined) throw new VigieError('usage.wrong', `several keys are called ${name}: give the key id`);
  throw new VigieError(
    'usage.wrong',
    found.length > 0 ? `${name} was revoked, and a revocation is permanent` : `there is no key ${name} in the list`,
  );
}

async function show(candidates: readonly Candidate[], chosen: ReadonlySet<string>, options: Options): Promise<void> {
  const lines = new Lines();
  const confirmed = chosen.size > 0;
  for (const { key, added, revoked } of candidates) {
    const { publicKey: _, ...shown } = key;
    const state = revoked || (confirmed && !chosen.has(key.kid)) ? 'revoked' : confirmed ? 'trusted' : 'unconfirmed';
    const origin = added ? 'added by command' : 'trust file';
    lines.line(
      formatOf(options.format) === 'ndjson'
        ? JSON.stringify({ ...shown, origin, state })
        : `${state} ${key.name} ${key.kid} ${key.algorithm} ${key.kinds.join(',')} (${origin})`,
    );
  }
  await lines.flush();
  process.stderr.write(
    confirmed
      ? 'confirmed: start the agent\n'
      : 'nothing was written: name the keys that the car may trust, and every other key of the list is revoked\n',
  );
}
