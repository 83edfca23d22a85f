/** The `mqtt` section of vigie.yaml. */

import { readFileSync } from 'node:fs';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { type LinkSettings, linkSettings } from '../protocol/settings.ts';
import { checkAwaited } from './awaited-file.ts';
import type { MqttInput } from './configuration-schema.ts';
import { readSecret } from './credentials.ts';
import { configurationDefaults } from './defaults.ts';
import type { Findings } from './findings.ts';
import { readSettings } from './settings.ts';

/** Broker and its connection settings, with absolute paths. */
export interface BrokerConfiguration {
  readonly url: string;
  /** Fallback brokers, in order of preference. */
  readonly fallbacks?: readonly string[];
  readonly protocol: 'auto' | '5' | '3.1.1';
  readonly username?: string;
  /** File with the password. Read it with `readSecret`. */
  readonly passwordFile?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly crl?: string;
  /** EST server that renews the certificate; `cert` and `key` are then the same file. */
  readonly est?: string;
}

/** Connection to the cloud. */
export interface MqttConfiguration extends BrokerConfiguration, LinkSettings {}

export type BrokerAddressInput = Omit<MqttInput, keyof typeof linkSettings>;

/** Reads `mqtt`. `beside` returns absolute paths. */
export function readMqtt(
  input: MqttInput | undefined,
  beside: (path: string) => string,
  findings: Findings,
): MqttConfiguration {
  const { protocol } = configurationDefaults.mqtt;
  const settings = readSettings(linkSettings, input, '/mqtt', findings);
  if (input === undefined || !findings.sound('/mqtt')) return { url: '', protocol, ...settings };
  return { ...readBroker(input, '/mqtt', beside, findings), ...settings };
}

/** Reads the fields of a broker in the section at `at`, which matches its schema. */
export function readBroker(
  input: BrokerAddressInput,
  at: string,
  beside: (path: string) => string,
  findings: Findings,
): BrokerConfiguration {
  const { protocol } = configurationDefaults.mqtt;
  const files: Record<string, string> = {};
  for (const name of ['passwordFile', 'ca', 'cert', 'key', 'crl'] as const) {
    const written = input[name];
    if (written === undefined) continue;
    files[name] = beside(written);
    checkAwaited(`${at}/${name}`, files[name], findings, { secret: name === 'passwordFile' || name === 'key' });
  }
  checkTogether(input, at, findings);
  return {
    url: input.url,
    ...defined({ fallbacks: input.fallbacks }),
    protocol: input.protocol === undefined ? protocol : (String(input.protocol) as MqttConfiguration['protocol']),
    ...defined({ username: input.username }),
    ...files,
    ...defined({ est: input.est }),
  };
}

function checkTogether(input: BrokerAddressInput, at: string, findings: Findings): void {
  const { url, fallbacks = [], username, passwordFile, cert, key } = input;
  for (const [index, other] of fallbacks.entries()) {
    if (!URL.canParse(other)) {
      findings.error(`${at}/fallbacks/${index}`, 'this is not an address', 'write e.g. mqtts://broker.example:8883');
    } else if (encrypted(other) !== encrypted(url)) {
      // Each of the brokers may receive the certificates and the password.
      findings.error(`${at}/fallbacks/${index}`, 'one broker is encrypted and another is not', 'write mqtts:// in all');
    }
  }
  if (!URL.canParse(url))
    findings.error(`${at}/url`, 'this is not an address', 'write e.g. mqtts://broker.example:8883');
  if (passwordFile !== undefined && username === undefined) {
    // [MQTT-3.1.2-22] of 3.1.1: a password requires a user name.
    findings.error(`${at}/passwordFile`, 'a password without a user name', 'add username');
  }
  if (cert !== undefined && key === undefined) findings.error(`${at}/cert`, 'a certificate without its key', 'add key');
  if (key !== undefined && cert === undefined) findings.error(`${at}/key`, 'a key without its certificate', 'add cert');
  const renewable = input.ca !== undefined && cert !== undefined && cert === key;
  if (input.est !== undefined && !renewable) {
    const fix = 'add ca, and cert and key as one file (vigie enroll writes them)';
    findings.error(`${at}/est`, 'what it renews is not there', fix);
  }
  if (encrypted(url)) return;
  for (const name of ['ca', 'cert', 'key', 'crl'] as const) {
    if (input[name] === undefined) continue;
    findings.error(`${at}/${name}`, `${name} is for TLS and this url has none`, 'write mqtts:// in url');
  }
  if (passwordFile !== undefined && !staysHere(url)) {
    findings.warning(`${at}/url`, 'the password goes over the network unencrypted', 'write mqtts:// in url');
  }
}

function encrypted(url: string): boolean {
  return url.startsWith('mqtts:');
}

/** Returns true if the broker is on this machine (loopback addresses of RFC 6890). */
function staysHere(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127(\.[0-9]+){3}|\[::1\])$/i.test(new URL(url).hostname);
}

/**
 * Returns the broker settings for a client. For each connection, the client calls `dialing` and reads the files with
 * secrets and certificates again.
 */
export function brokerAddress(
  { protocol, passwordFile, username, ...rest }: BrokerConfiguration,
  dialing?: () => void,
) {
  const files = (['ca', 'cert', 'key', 'crl'] as const).filter((name) => rest[name] !== undefined);
  // Read again, because a certificate is renewed without a restart.
  const tls = () => {
    dialing?.();
    return {
      ...Object.fromEntries(files.map((name) => [name, readCertificate(name, rest[name] as string)])),
      paths: rest,
    };
  };
  const version = protocol === '5' ? 5 : 4;
  return {
    url: [rest.url, ...(rest.fallbacks ?? [])],
    protocol: protocol === 'auto' ? ('auto' as const) : (version as 4 | 5),
    ...(files.length === 0 ? {} : { tls }),
    ...defined({ username }),
    ...(passwordFile === undefined ? {} : { password: () => readSecret(passwordFile) }),
  };
}

function readCertificate(name: string, path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new VigieError('input.unreadable', `${name} cannot be read: ${(cause as Error).message}`, {
      where: path,
      cause,
    });
  }
}
