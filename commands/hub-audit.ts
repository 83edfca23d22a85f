/** `vigie hub audit`: checks the audit trail of commands. */
import { Command } from 'commander';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { placeHelp } from './help.ts';
import { withRegistry } from './hub-registry.ts';

export function hubAuditCommand(): Command {
  return new Command('audit')
    .configureHelp(placeHelp)
    .description(
      'checks that no command in the audit trail was altered, deleted or inserted. Prints the digest of the last entry: keep it ' +
        'elsewhere, for --known of the next check. Exit status 1 if the trail is broken, with the first broken entry.',
    )
    .option('--verify', 'checks the chain of digests (required)')
    .option('--known <digest>', 'digest of an earlier check, which the trail must contain')
    .action(async ({ verify, known }: { verify?: boolean; known?: string }, command: Command) => {
      if (verify !== true) throw new VigieError('usage.wrong', 'say --verify');
      if (known !== undefined && !/^[0-9a-f]{64}$/.test(known)) {
        throw new VigieError('usage.wrong', '--known needs the 64 hexadecimal digits of an earlier check');
      }
      await withRegistry(command, async ({ audit }) => {
        const { entries, erased, seq, digest, broken } = await audit(known);
        const found = `${counted(entries, 'entry', 'entries')}, ${erased} of them of forgotten cars`;
        process.stdout.write(
          `${broken === undefined ? 'intact' : `broken: ${broken}`}\n${found}\nentry ${seq}: ${digest}\n`,
        );
        if (broken !== undefined) process.exitCode = 1;
      });
    });
}
