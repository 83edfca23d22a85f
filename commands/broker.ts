/** Connection to the broker of a car, for commands that watch a car or send to it. */

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CloudClient, type TlsFiles } from '../adapters/mqtt/index.ts';
import { readSecret } from '../config/credentials.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { benchDirectory, readRig } from './rig.ts';

export interface BrokerOptions {
  /** URL of the broker. If omitted, the broker of the bench in `data`. */
  readonly broker?: string;
  readonly data: string;
  readonly username?: string;
  readonly passwordFile?: string;
  /** Paths of certificates in PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
}

/** Adds the options of {@link BrokerOptions} to a command. */
export function withBroker(command: Command, url: string): Command {
  return command
    .option('--broker <url>', `${url}; default: that of the bench in --data`)
    .option('--username <name>', 'user name at the broker')
    .option('--password-file <file>', 'file that contains only the password')
    .option(
      '--ca <file>',
      'certificates (PEM) of the authorities that sign the broker’s certificate; default: those of the system',
    )
    .option('--cert <file>', 'certificate (PEM) to show to the broker')
    .option('--cert-key <file>', 'private key (PEM) of that certificate')
    .option('--data <dir>', 'directory of the bench', benchDirectory);
}

const HUB_HINT = 'the broker of a hub with a registry admits cars only: use the HTTP interface (vigie send --hub URL)';

/**
 * Connects to the broker. @throws VigieError `usage.wrong` if options contradict each other or name no broker, and the
 * errors of reading the files and of {@link CloudClient.connect}
 */
export function connectTo(options: BrokerOptions): Promise<CloudClient> {
  const url = options.broker ?? readRig(options.data)?.broker;
  if (url === undefined) {
    throw new VigieError('usage.wrong', 'which broker? Give --broker mqtt://HOST:1883, or start `vigie bench` here');
  }
  return CloudClient.connect(url, {
    names: { ca: '--ca', certificate: '--cert and --cert-key', refused: HUB_HINT },
    ...loginOf(options),
    ...defined({ tls: certificates(options, url) }),
  });
}

/** @throws VigieError `usage.wrong` for a password without a user name, and the errors of {@link readSecret} */
export function loginOf({ username, passwordFile }: Pick<BrokerOptions, 'username' | 'passwordFile'>): {
  readonly username?: string;
  readonly password?: string;
} {
  if (username === undefined) {
    if (passwordFile === undefined) return {};
    throw new VigieError('usage.wrong', 'a password without a user name: add --username');
  }
  return { username, ...(passwordFile === undefined ? {} : { password: readSecret(passwordFile) }) };
}

/**
 * Returns the TLS files for the broker at `url`.
 * @throws VigieError `usage.wrong` for a certificate without its key, a key without its certificate, or a URL without
 * TLS
 */
export function certificates(
  { ca, cert, certKey: key }: Pick<BrokerOptions, 'ca' | 'cert' | 'certKey'>,
  url: string,
): TlsFiles | undefined {
  if ((cert === undefined) !== (key === undefined)) {
    throw new VigieError('usage.wrong', '--cert and --cert-key go together');
  }
  const named = Object.entries({ ca, cert, key }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (named.length === 0) return undefined;
  const files = named.map(([part, file]) => [part, pemOf(file)] as const);
  if (URL.canParse(url) && ['mqtt:', 'tcp:'].includes(new URL(url).protocol)) {
    throw new VigieError('usage.wrong', 'certificates are for TLS, and --broker has none: write mqtts://');
  }
  return { ...Object.fromEntries(files), paths: Object.fromEntries(named) };
}

export function pemOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : message;
    throw new VigieError('input.unreadable', `cannot be read: ${reason}`, { where: file, cause: error });
  }
}
