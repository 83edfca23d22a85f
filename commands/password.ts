import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { hashPassword } from '../adapters/http/access/password.ts';
import { VigieError } from '../protocol/errors.ts';

/** `vigie keys password`: creates the hash for a fleet user's `passwordFile`. */
export function passwordCommand(): Command {
  return new Command('password')
    .description('reads a password from standard input and prints its hash, for passwordFile under http.fleet')
    .action(async () => {
      const password = (await text(process.stdin)).replace(/\r?\n$/, '');
      if (password === '')
        throw new VigieError('usage.wrong', 'no password came: echo -n secret | vigie keys password');
      process.stdout.write(`${await hashPassword(password)}\n`);
    });
}
