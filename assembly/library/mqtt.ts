/** Link to an MQTT broker: `vigie/mqtt`. */

import type { MqttAddress, TlsFiles } from '../../adapters/mqtt/index.ts';
import type { BackoffOptions } from '../../agent/backoff.ts';
import { defined } from '../../protocol/defined.ts';

import { checkNames, isFields, wrong } from './checks.ts';

export type { LinkEvents, OutgoingMessage } from '../../agent/ports.ts';
export type { CloudLink } from '../cloud-link.ts';
export type { MqttAddress };

export interface MqttOptions extends Omit<MqttAddress, 'tls'> {
  /** Certificates in PEM of the authorities that may sign the broker's certificate. */
  readonly ca?: string | Uint8Array;
  /** The car's own certificate, and its private key, in PEM. */
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Replaces `ca`, `cert` and `key`: PEM data, or a function that reads it for each connection, to allow renewal. */
  readonly tls?: MqttAddress['tls'];
  /** Delays in ms between attempts to reach the broker; default 1 s to 2 min. */
  readonly backoff?: BackoffOptions;
}

/** A link that the agent opens. */
export interface MqttLinkDescription {
  readonly mqtt: MqttAddress;
  readonly backoff?: BackoffOptions;
}

/** All option names; the compiler checks that the list is complete. */
const optionNames = {
  url: 0,
  clientId: 0,
  protocol: 0,
  tls: 0,
  username: 0,
  password: 0,
  keepalive: 0,
  asleepKeepalive: 0,
  sessionExpiry: 0,
  ca: 0,
  cert: 0,
  key: 0,
  backoff: 0,
} satisfies { readonly [O in keyof Required<MqttOptions>]: 0 };

/** Link over MQTT 5, or 3.1.1 if the broker refuses 5. @throws VigieError `usage.wrong` for unknown or wrong options */
export function mqtt(options: MqttOptions): MqttLinkDescription {
  if (!isFields(options)) throw wrong('mqtt', "must be called with an object, such as mqtt({ url: 'mqtts://broker' })");
  checkNames(options, optionNames, 'mqtt.');
  const { ca, cert, key, tls, backoff, ...address } = options;
  const own: TlsFiles = defined({ ca: pemOf('ca', ca), cert: pemOf('cert', cert), key: pemOf('key', key) });
  const given = tls ?? (Object.keys(own).length === 0 ? undefined : own);
  return {
    mqtt: { ...address, ...defined({ tls: given }) },
    ...defined({ backoff }),
  };
}

/** @throws VigieError `usage.wrong` if the value is not PEM, for example a file name */
function pemOf(name: 'ca' | 'cert' | 'key', pem: string | Uint8Array | undefined): Uint8Array | undefined {
  if (typeof pem !== 'string') return pem;
  if (!pem.includes('-----BEGIN ')) {
    throw wrong(
      `mqtt.${name}`,
      'must be the content of a PEM file, not its name: give readFileSync(file), or a function as `tls`',
    );
  }
  return new TextEncoder().encode(pem);
}
