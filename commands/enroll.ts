/** `vigie enroll`: enrols a car at a hub, and renews its certificate. */
import { X509Certificate } from 'node:crypto';
import { accessSync, chownSync, constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { Document, isMap, parseDocument } from 'yaml';
import {
  type CarIdentity,
  enrol,
  fetchAuthority,
  fetchSettings,
  hubTime,
  newCarKey,
  readEnrolmentToken,
  renew,
} from '../adapters/certificates/index.ts';
import { replaceFile } from '../adapters/keys/files.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { VigieError } from '../protocol/errors.ts';
import { NOT_DUE } from './own-program.ts';

interface Options {
  readonly token?: string;
  readonly config: string;
  readonly data?: string;
  readonly renew?: boolean;
  readonly ca?: string;
  readonly cert?: string;
}

export function enrollCommand(): Command {
  return new Command('enroll')
    .argument('<url>', 'enrolment of the hub: https://host:8443')
    .summary('gives the car its certificate at a hub')
    .description(
      `Makes a key in the car, has it certified by the hub (EST, RFC 7030), and writes broker, certificate, VIN and the hub's \
command key into the configuration. \`vigie hub add\` prints the token. The agent renews the certificate by itself.`,
    )
    .option('--token <token>', 'one-time token of `vigie hub add`')
    .option('-c, --config <file>', 'configuration that is changed, or made', 'vigie.yaml')
    .option('--data <dir>', 'folder of records, key and certificate: written into a configuration that has no data')
    .option('--renew', 'renew the certificate of --cert if a third of its time or less is left; the agent does so')
    .option('--ca <file>', 'with --renew: authority of the hub')
    .option('--cert <file>', 'with --renew: certificate and key of the car, in one file')
    .action((url: string, options: Options) =>
      options.renew === true ? renewal(url, options) : enrolment(url, options),
    );
}

async function enrolment(url: string, { token: text, config, data }: Options): Promise<void> {
  if (text === undefined) throw new VigieError('usage.wrong', 'give the token that `vigie hub add` printed: --token');
  const token = readEnrolmentToken(text);
  const document = readConfiguration(config, token.vin);
  const isNew = !document.has('profile');
  const folder = join(dataOf(document, config, data), 'hub');
  makeDirectory(folder, { of: 'the identity of the car', choose: 'data in the configuration', mode: 0o700 });
  const files = {
    key: join(folder, 'enrolment-key.pem'),
    cert: join(folder, 'car.pem'),
    ca: join(folder, 'authority.pem'),
    trust: join(folder, 'trust.json'),
  };
  // The hub binds the token to the key. If the key were lost in a failed enrolment, the token would be useless: store
  // it first.
  const key = existsSync(files.key) ? readText(files.key) : await newCarKey();
  await write(files.key, key, 0o600);
  const ca = await fetchAuthority(url, token);
  const identity = await enrol(url, ca, token, key);
  await write(files.cert, identity.pem, 0o600);
  const { mqtt, trust } = settingsIn(await fetchSettings(url, ca, identity), url);
  await write(files.ca, ca);
  await write(files.trust, `${JSON.stringify(trust, null, 2)}\n`);
  const written = (file: string): string => {
    const beside = relative(dirname(resolve(config)), file);
    return beside.startsWith('..') ? file : beside;
  };
  document.set('vin', token.vin);
  // Settings of the previous broker do not apply to this one.
  if (document.has('mqtt')) {
    for (const name of ['fallbacks', 'username', 'passwordFile', 'crl']) document.deleteIn(['mqtt', name]);
  }
  const members = {
    url: mqtt.url,
    ca: written(files.ca),
    cert: written(files.cert),
    key: written(files.cert),
    est: url,
  };
  for (const [name, value] of Object.entries(members)) document.setIn(['mqtt', name], value);
  const trusted = document.getIn(['commands', 'trust']);
  if (trusted === undefined) document.setIn(['commands', 'trust'], written(files.trust));
  await write(config, document.toString());
  rmSync(files.key);
  process.stdout.write(`enrolled: ${token.vin} at ${mqtt.url}, until ${expiryOf(identity)}
${resolve(config)} has the broker and the certificate, which the agent renews by itself.
${
  trusted === undefined || trusted === written(files.trust)
    ? `Commands of the hub are obeyed: its key is in ${files.trust}.`
    : `Commands: the car goes on trusting ${String(trusted)}; the key of the hub is in ${files.trust}.`
}
Next: ${isNew ? `write profile and an input such as can into ${config}, ` : ''}vigie check -c ${config}, then restart the agent.
`);
}

/** Renews the certificate. The exit status is 0 even if no renewal is due. */
async function renewal(url: string, { ca: caFile, cert }: Options): Promise<void> {
  if (caFile === undefined || cert === undefined) {
    throw new VigieError('usage.wrong', '--renew needs --ca and --cert, as mqtt has them in the configuration');
  }
  const [ca, pem] = [readText(caFile), readText(cert)];
  const { validFrom, validTo } = new X509Certificate(pem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  // A clock that is not set is behind. The hub's clock is right, and the authority's certificate proves the hub's
  // identity.
  const now = Math.max(Date.now(), await hubTime(url, ca));
  if (to - now > (to - from) / 3) {
    process.stdout.write(`${NOT_DUE}: ${cert} is good until ${new Date(to).toISOString()}\n`);
    return;
  }
  const identity = await renew(url, ca, { pem });
  await write(cert, identity.pem, 0o600);
  process.stdout.write(`renewed: ${cert} until ${expiryOf(identity)}\n`);
}

function expiryOf({ pem }: CarIdentity): string {
  return new Date(Date.parse(new X509Certificate(pem).validTo)).toISOString();
}

/**
 * @throws VigieError `input.malformed`, `usage.wrong` if the configuration is of another car, `store.failed` if the
 * file cannot be replaced
 */
function readConfiguration(file: string, vin: string): Document {
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch (cause) {
    throw new VigieError('store.failed', `cannot be written: ${(cause as Error).message}`, { where: file, cause });
  }
  if (!existsSync(file)) return new Document({ configuration: 1 });
  const document = parseDocument(readText(file));
  const [fault] = document.errors;
  if (fault !== undefined) throw new VigieError('input.malformed', fault.message, { where: file });
  if (document.contents === null) return new Document({ configuration: 1 });
  if (!isMap(document.contents)) throw new VigieError('input.malformed', 'is not a configuration', { where: file });
  for (const name of ['mqtt', 'commands']) {
    const member: unknown = document.get(name);
    if (member === undefined) document.delete(name);
    else if (!isMap(member)) {
      throw new VigieError('input.malformed', `${name}: must be a section with settings, or absent`, { where: file });
    }
  }
  const known = document.get('vin');
  if (known !== undefined && known !== vin) {
    throw new VigieError('usage.wrong', `is the configuration of ${String(known)}, and the token is for ${vin}`, {
      where: file,
    });
  }
  return document as Document;
}

/** Returns the folder of records. @throws VigieError `usage.wrong` if configuration, option and environment lack it */
function dataOf(document: Document, config: string, option: string | undefined): string {
  const own = document.get('data');
  if (typeof own === 'string') {
    const folder = resolve(dirname(config), own);
    if (option === undefined || resolve(option) === folder) return folder;
    throw new VigieError('usage.wrong', `has data: ${own}: leave --data out, or change that`, { where: config });
  }
  if (option !== undefined) {
    document.set('data', resolve(option));
    return resolve(option);
  }
  const folder = process.env['VIGIE_DATA'];
  if (folder) return resolve(dirname(config), folder);
  // The configuration of a unit may rely on the default folder, that of the service.
  if (existsSync(config)) return configurationDefaults.data;
  throw new VigieError(
    'usage.wrong',
    `does not exist yet: name with --data where the car keeps records, key and certificate (the service uses ${configurationDefaults.data})`,
    { where: config },
  );
}

function settingsIn(answer: unknown, where: string): { mqtt: { url: string }; trust: object } {
  const { mqtt, trust } = (answer ?? {}) as { mqtt?: { url?: unknown }; trust?: unknown };
  if (typeof mqtt?.url === 'string' && typeof trust === 'object' && trust !== null)
    return { mqtt: { url: mqtt.url }, trust };
  throw new VigieError('link.refused', 'the hub does not say where its broker is', { where });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new VigieError('input.unreadable', (cause as Error).message, { where: file, cause });
  }
}

/** Writes a file that belongs to the directory's owner, the user of the service, even if root runs the command. */
async function write(file: string, content: string, mode = 0o644): Promise<void> {
  await replaceFile(file, content, mode);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(resolve(file)));
  chownSync(file, uid, gid);
}
