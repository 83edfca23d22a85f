import { join } from 'node:path';
import { Command, Option } from 'commander';
import { generateKey, listKeys } from '../adapters/keys/index.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { remoteTypes } from '../protocol/remote/table.ts';
import { confirmCommand } from './confirm.ts';
import { formatOf, Lines } from './output.ts';
import { passwordCommand } from './password.ts';
import { benchDirectory } from './rig.ts';

export function keysCommand(): Command {
  const keys = new Command('keys')
    .summary('command-signing keys')
    .description('Makes and lists the keys that sign commands, and the trust file that goes into the car.');
  keys
    .command('list', { isDefault: true })
    .description('lists the keys of a directory: name, key id, algorithm, permitted kinds of command')
    .option('--dir <dir>', 'directory of keys', join(benchDirectory, 'keys'))
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(async (options: { dir: string; format?: string }) => {
      const lines = new Lines();
      const found = await listKeys(options.dir);
      if (found.length === 0) process.stderr.write(`${options.dir}: no keys here; name their folder with --dir\n`);
      for (const key of found) {
        const text = `${key.name} ${key.kid} ${key.algorithm} ${key.kinds.join(',')}`;
        lines.line(formatOf(options.format) === 'ndjson' ? JSON.stringify(key) : text);
      }
      await lines.flush();
    });
  keys
    .command('make <name>')
    .description('makes a key pair; the public part goes into trust.json of the directory')
    .option('--dir <dir>', 'directory of keys', join(benchDirectory, 'keys'))
    .addOption(
      new Option('--algorithm <name>', 'algorithm of the signatures').choices(['ES256', 'Ed25519']).default('ES256'),
    )
    .option(
      '--kinds <kind...>',
      'command kinds that the key may sign; default: all kinds of the interface, not those that change the agent',
      [...remoteTypes],
    )
    .action(async (name: string, options: { dir: string; algorithm: 'ES256' | 'Ed25519'; kinds: string[] }) => {
      makeDirectory(options.dir, { of: 'keys', choose: '--dir', mode: 0o700 });
      const key = await generateKey(options.dir, name, options);
      process.stdout.write(`${key.name} ${key.kid} ${key.algorithm} ${key.kinds.join(',')}\n`);
    });
  keys.addCommand(confirmCommand()).addCommand(passwordCommand());
  return keys;
}
