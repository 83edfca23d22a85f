/** Certificates of a hub and of its cars, and the server from which cars obtain them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CertificateAuthority,
  type EnrolmentDesk,
  EstServer,
  newEnrolmentToken,
  tokenDigest,
} from '../../adapters/certificates/index.ts';
import { replaceFile } from '../../adapters/keys/files.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import type { Teardown } from '../../assembly/teardown.ts';
import { DAY } from '../../protocol/calendar.ts';
import type { Registry } from '../core/registry.ts';
import type { RegistryStates } from '../core/registry-state.ts';
import { onChanges } from './clients.ts';

/** Validity of cars' certificates in ms. A car renews its certificate when a third of that time is left. */
const CAR_LASTS = 90 * DAY;
/** Validity of one-time tokens in ms: long enough to take a token to the car. */
const TOKEN_LASTS = 7 * DAY;
/** Interval in ms between new certificates of the hub. */
const RENEWAL = 7 * DAY;

/** Settings of a hub that other machines can reach. */
export interface SecureHub {
  /** Names and addresses of the hub, for its certificate. */
  readonly names: readonly string[];
  /** Port of enrolment; 0 for any free port. */
  readonly enrolment: number;
  /** Validity of a car's certificate in ms. Default: 90 days. */
  readonly lasts?: number;
}

interface HubTls {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
  /** File with the key and the certificate. */
  readonly file: string;
}

export interface HubCertificates {
  readonly authority: CertificateAuthority;
  readonly tls: HubTls;
}

/** Opens the authority of the hub, creating it if missing, and issues a new certificate for the hub. */
export async function openCertificates(data: string, names: readonly string[], now: number): Promise<HubCertificates> {
  const authority = await CertificateAuthority.open(data);
  return { authority, tls: await hubTls(authority, data, names, now) };
}

/** Issues the certificate of the hub and writes it to `hub.pem`, from which the interface reads it. */
async function hubTls(
  authority: CertificateAuthority,
  data: string,
  names: readonly string[],
  now: number,
): Promise<HubTls> {
  const { key, cert } = await authority.certifyHub(names, now);
  const file = join(data, 'hub.pem');
  await replaceFile(file, key + cert, 0o600);
  return { key, cert, ca: authority.pem, file };
}

/** Validity of the revocation list in ms. With an expired list, a broker refuses every car. */
const LIST_LASTS = 30 * DAY;

/** Writes the revocation list of cars (RFC 5280 §5) to `revoked.pem`, for external brokers. */
async function writeRevoked({ authority, data, registry, clock }: EnrolmentParts): Promise<void> {
  const now = clock.now();
  const list = await authority.revocationList(await registry.revoked(now), now, LIST_LASTS);
  await replaceFile(join(data, 'revoked.pem'), list);
}

/** Issues a one-time token for a car. */
export async function issueToken(data: string, registry: Registry, vin: string, now: number): Promise<string> {
  const { fingerprint } = await CertificateAuthority.open(data);
  const { text } = newEnrolmentToken(vin, fingerprint);
  await registry.setToken(vin, tokenDigest(text), now + TOKEN_LASTS);
  return text;
}

interface EnrolmentParts {
  readonly authority: CertificateAuthority;
  readonly registry: Registry;
  readonly states: RegistryStates;
  readonly secure: SecureHub;
  readonly data: string;
  readonly tls: HubTls;
  readonly host: string;
  /** Returns the address of the broker for a car that reached the hub by the name `name`. */
  readonly broker: (name: string) => string;
  /** File of the public key for commands. */
  readonly trust: string;
  /** Receives each new certificate of the hub. */
  readonly renewed: (tls: HubTls) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts enrolment, and renews the certificate of the hub. @returns the port of enrolment */
export async function startEnrolment(parts: EnrolmentParts, teardowns: Teardown[]): Promise<number> {
  const { authority, states, secure, data, tls, host, clock, log, renewed } = parts;
  const server = new EstServer({
    authority,
    desk: deskOf(parts),
    host,
    port: secure.enrolment,
    tls,
    lasts: secure.lasts ?? CAR_LASTS,
    clock,
    log,
  });
  const port = await server.start();
  teardowns.unshift(() => server.stop());
  let cancel: () => void = () => undefined;
  const renewLater = (): void => {
    cancel = clock.after(RENEWAL, () => {
      hubTls(authority, data, secure.names, clock.now())
        .then((made) => {
          server.renew(made);
          renewed(made);
          return writeRevoked(parts);
        })
        .catch((error: Error) => log.error('hub.certificate.failed', { error: error.message }));
      renewLater();
    });
  };
  renewLater();
  teardowns.unshift(async () => cancel());
  teardowns.unshift(onChanges({ states, clock, log }, () => writeRevoked(parts)));
  return port;
}

function deskOf({ registry, states, broker, trust, clock }: EnrolmentParts): EnrolmentDesk {
  return {
    mayEnrol: (vin, token, key) => registry.takeToken({ vin, token: tokenDigest(token), key, at: clock.now() }),
    carOf: async (serial) => {
      const known = await registry.certificate(serial);
      if (known === undefined || known.revoked !== undefined) return undefined;
      return (await states.current()).isActive(known.vin) ? known.vin : undefined;
    },
    keep: (vin, { serial, issued, expires }, before) => registry.certify({ serial, vin, issued, expires }, before),
    settings: async (vin, host) => ({
      vin,
      mqtt: { url: broker(host) },
      trust: JSON.parse(readFileSync(trust, 'utf8')) as unknown,
    }),
  };
}
