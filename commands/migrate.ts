import { Command, InvalidArgumentError } from 'commander';
import { formatOf, migrate, newest } from '../adapters/service/data-format.ts';
import { lockDirectory } from '../adapters/store/index.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { VigieError } from '../protocol/errors.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .summary('brings a folder of records to another format, e.g. for an older agent')
    .description(
      `The agent brings its records to its own format when it starts; this does it by hand, and back, for the agent of \
before. What an older format does not know is put aside and taken up again on the way up.`,
    )
    .option('--data <dir>', 'folder of the records', process.env['VIGIE_DATA'] || configurationDefaults.data)
    .option('--to <format>', `1 to ${newest()}`, number, newest())
    .action(({ data, to }: { data: string; to: number }) => {
      if (formatOf(data) === undefined) {
        throw new VigieError('usage.wrong', 'there are no records here; name their folder with --data', {
          where: data,
        });
      }
      const unlock = lockDirectory(data);
      try {
        const done = migrate(data, undefined, to);
        process.stdout.write(`${done.length === 0 ? `format ${to} already` : done.join('\n')}\n`);
      } finally {
        unlock();
      }
    });
}

function number(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('a whole number.');
  return value;
}
