/** `vigie hub certify`: certificates for the programs beside a hub, such as its broker. */
import { join } from 'node:path';
import { Command } from 'commander';
import { replaceFile } from '../adapters/keys/files.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { makeHubDirectory } from '../hub/start/folder.ts';
import { VigieError } from '../protocol/errors.ts';
import { isVin } from '../protocol/topics.ts';
import { placeHelp } from './help.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';

/** A host name (RFC 1123 §2.1), an IP address, or the user name of a program at a broker. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9.:-]{0,252}[A-Za-z0-9])?$/;

export function certifyCommand(): Command {
  return new Command('certify')
    .configureHelp(placeHelp)
    .argument('<names...>', 'names of each program, separated by commas, the first of which names its files')
    .description(
      'writes NAME.pem and NAME.key, valid for a year, for programs beside the hub, and ca.pem, its authority without the key: ' +
        'for your broker, and for the hub as its client',
    )
    .requiredOption('--out <dir>', 'existing directory of the files')
    .action(certify);
}

async function certify(programs: readonly string[], { out }: { readonly out: string }, command: Command) {
  const wanted = programs.map((program) => program.split(',').map(checkedName));
  const { data } = placeOf(command.optsWithGlobals<PlaceOptions>());
  makeHubDirectory(data, new StreamLog(process.stderr, 'warn'));
  // Hubs without TLS do not load the code for certificates.
  const { CertificateAuthority } = await import('../adapters/certificates/index.ts');
  const authority = await CertificateAuthority.open(data);
  await replaceFile(join(out, 'ca.pem'), authority.pem);
  for (const names of wanted) {
    const { key, cert } = await authority.certifyHub(names, Date.now());
    const file = join(out, names[0] as string);
    await replaceFile(`${file}.key`, key, 0o600);
    await replaceFile(`${file}.pem`, cert);
    process.stdout.write(`${file}.pem\n`);
  }
}

/** @throws VigieError `usage.wrong` for a VIN too: the holder of such a certificate could speak for that car */
function checkedName(name: string): string {
  if (NAME.test(name) && !isVin(name)) return name;
  const text = isVin(name)
    ? `"${name}" is a VIN: cars get certificates by enrolment (vigie hub add)`
    : `"${name}" is not a host name, an address or a user name`;
  throw new VigieError('usage.wrong', text);
}
