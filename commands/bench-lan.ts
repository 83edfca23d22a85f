/** `vigie bench --lan`: the page over HTTPS on the local network, for people to whom the user gave its token. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { LanDoor } from '../adapters/http/access/lan.ts';
import { selfSigned } from '../adapters/keys/self-signed.ts';
import type { LanServing } from '../assembly/interface.ts';
import { DAY } from '../protocol/calendar.ts';

/** Default port of the page. */
export const STANDARD_LAN = 8443;
/** Remaining validity in ms at which a certificate is replaced. */
const RENEWED = 30 * DAY;

export interface LanPage {
  readonly serving: LanServing;
  /** Returns the address for one browser; `port` is the port of the interface. */
  url(port: string, token?: string): string;
  /** SHA-256 fingerprint of the certificate, in the format that browsers show. */
  readonly fingerprint: string;
}

/**
 * Returns the page. The certificate is stored in `data`, so that a browser asks only once whether to trust it, and is
 * replaced when the machine's addresses have changed. `used` receives the next token after a browser was admitted.
 */
export function lanPage(data: string, now: number, used: (token: string) => void): LanPage {
  const [cert, key] = [join(data, 'lan.pem'), join(data, 'lan-key.pem')];
  const addresses = addressesOfMachine();
  // Browsers cannot use a machine name that contains other characters.
  const names = [...new Set(['localhost', hostname(), `${hostname()}.local`, '127.0.0.1', ...addresses])].filter(
    (name) => /^[a-z0-9.-]+$/i.test(name),
  );
  if (!isGood(cert, key, names, now)) {
    const made = selfSigned(names, now);
    writeFileSync(key, made.key, { mode: 0o600 });
    writeFileSync(cert, made.certificate);
  }
  const door = new LanDoor(used);
  return {
    serving: { host: '0.0.0.0', tls: { cert, key }, door },
    url: (port, token = door.token) => `https://${addresses[0] ?? '127.0.0.1'}:${port}/?token=${token}`,
    fingerprint: new X509Certificate(readFileSync(cert)).fingerprint256,
  };
}

function isGood(cert: string, key: string, names: readonly string[], now: number): boolean {
  try {
    const found = new X509Certificate(readFileSync(cert));
    readFileSync(key);
    const covers = (name: string): boolean =>
      (isIPv4(name) ? found.checkIP(name) : found.checkHost(name, { subject: 'never' })) !== undefined;
    return names.every(covers) && Date.parse(found.validTo) > now + RENEWED;
  } catch {
    // The certificate is missing or damaged: it is replaced.
    return false;
  }
}

function addressesOfMachine(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}
