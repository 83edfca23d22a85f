/** The way to an MQTT broker: `vigie/mqtt`. */

import type { MqttAddress, TlsFiles } from '../../adapters/mqtt/index.ts';
import type { BackoffOptions } from '../../agent/backoff.ts';
import { defined } from '../../protocol/defined.ts';

import { checkNames } from './names.ts';

export type { LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
export type { CloudLink } from '../cloud-link.ts';
export type { MqttAddress };

export interface MqttOptions extends Omit<MqttAddress, 'tls'> {
  /** Certificates of the authorities that the broker is checked against, PEM. */
  readonly ca?: string | Uint8Array;
  /** The car's own certificate and its private key, PEM. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Instead of these three: files, or a function that reads them for each connection, so that they can be renewed. */
  readonly tls?: MqttAddress['tls'];
  /** Waits between attempts to reach the broker, ms; default 1 s to 2 min. */
  readonly backoff?: BackoffOptions;
}

/** A link that the agent opens. */
export interface MqttLinkDescription {
  readonly mqtt: MqttAddress;
  readonly backoff?: BackoffOptions;
}

/** The compiler keeps it complete. */
const addressNames = {
  url: 0,
  clientId: 0,
  protocol: 0,
  tls: 0,
  username: 0,
  password: 0,
  keepalive: 0,
  asleepKeepalive: 0,
  sessionExpiry: 0,
} satisfies { readonly [O in keyof Required<MqttAddress>]: 0 };

/** MQTT 5, or 3.1.1 where the broker refuses that. @throws VigieError `usage.wrong` for an option that does not exist */
export function mqtt(options: MqttOptions): MqttLinkDescription {
  const { ca, cert, key, tls, backoff, ...address } = options;
  checkNames(address, addressNames, 'mqtt.');
  const own: TlsFiles = {
    ...(ca === undefined ? {} : { ca: bytesOf(ca) }),
    ...(cert === undefined ? {} : { cert: bytesOf(cert) }),
    ...(key === undefined ? {} : { key: bytesOf(key) }),
  };
  const given = tls ?? (Object.keys(own).length === 0 ? undefined : own);
  return {
    mqtt: { ...address, ...defined({ tls: given }) },
    ...defined({ backoff }),
  };
}

function bytesOf(pem: string | Uint8Array): Uint8Array {
  return typeof pem === 'string' ? new TextEncoder().encode(pem) : pem;
}
