/** `vigie hub backup` and `vigie hub restore`: copies of a hub on SQLite. */
import { Command } from 'commander';
import { StreamLog } from '../adapters/logging/stream.ts';
import { backUp, type Restored, restore } from '../hub/start/backup.ts';
import { isHubPlace } from '../hub/start/registry.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { placeHelp } from './help.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .configureHelp(placeHelp)
    .argument('<file>', 'new file for the copy')
    .description(
      'copies the SQLite file of a hub, which may run. Copy its keys and authority.pem once in addition: the file does not have them.',
    )
    .action(async (file: string, _options: object, command: Command) => {
      const data = dataOf(command, 'pg_dump');
      if (!isHubPlace({ data }))
        throw new VigieError('usage.wrong', 'no hub has its data there: --data', { where: data });
      await backUp(data, file);
      process.stdout.write(`${file}: the database of ${data}, without keys\n`);
    });
}

export function restoreCommand(): Command {
  return new Command('restore')
    .configureHelp(placeHelp)
    .argument('<file>', 'file of `vigie hub backup`')
    .description(
      'puts a copy in the place of the SQLite file of a stopped hub. It withdraws all tokens, and cars that were removed or forgotten ' +
        'after the copy stay so.',
    )
    .action(async (file: string, _options: object, command: Command) => {
      const data = dataOf(command, 'pg_restore, then `vigie hub token --withdraw all`');
      const restored = await restore(data, file, Date.now(), new StreamLog(process.stderr, 'warn'));
      process.stdout.write(`${linesOf(file, data, restored).join('\n')}\n`);
    });
}

/** @throws VigieError `usage.wrong` for a hub on PostgreSQL, which has its own backup tools */
function dataOf(command: Command, tools: string): string {
  const { data, database } = placeOf(command.optsWithGlobals<PlaceOptions>());
  if (database === undefined) return data;
  throw new VigieError('usage.wrong', `this is for a hub on SQLite; use ${tools} for PostgreSQL`);
}

function linesOf(file: string, data: string, restored: Restored): string[] {
  const { tokens, forgotten, removed, left, unknown, uncompared, replaced } = restored;
  const named = (text: string, vins: readonly string[]): string[] =>
    vins.length === 0 ? [] : [`${text}: ${vins.join(', ')}`];
  return [
    `${data}: restored from ${file}`,
    `${counted(tokens, 'token', 'tokens')} withdrawn: print new ones with vigie hub token`,
    ...named('still forgotten', forgotten),
    ...named('still removed', removed),
    ...named('still without the fleets and users that they left', left),
    ...named('registered after the copy, add them again', unknown),
    ...(uncompared === undefined
      ? []
      : [
          `cars that were removed or forgotten after the copy are registered again (${uncompared}): check vigie hub list`,
        ]),
    ...(replaced === undefined ? [] : [`the replaced database is ${replaced}: delete it when the hub runs well`]),
  ];
}
