/** Reads the address of a broker from its URL. */
import { VigieError } from '../../protocol/errors.ts';

/** A broker's address. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`mqtts`). */
  readonly secure: boolean;
  /** The URL for messages and logs, without secrets. */
  readonly text: string;
}

/** Schemes with their transport; the ports are those that IANA registered for MQTT. */
const schemes: Readonly<Record<string, { readonly secure: boolean; readonly port: number }>> = {
  'mqtt:': { secure: false, port: 1883 },
  'tcp:': { secure: false, port: 1883 },
  'mqtts:': { secure: true, port: 8883 },
  'ssl:': { secure: true, port: 8883 },
  'tls:': { secure: true, port: 8883 },
};

/**
 * Reads `mqtt://host[:port]` or `mqtts://host[:port]` (also tcp, ssl and tls as schemes).
 * Throws `configuration.wrong` for anything else, and for a user or password in the URL: URLs are logged.
 */
export function parseAddress(url: string): BrokerAddress {
  if (!URL.canParse(url)) throw wrong(withoutUser(url), 'is not a URL');
  const parsed = new URL(url);
  if (parsed.username !== '' || parsed.password !== '') {
    throw wrong(
      withoutUser(url),
      'carries a user or password; give them apart, as username and a file with the password',
    );
  }
  const scheme = schemes[parsed.protocol];
  if (scheme === undefined) throw wrong(url, 'has an unknown scheme; use mqtt, mqtts, tcp, ssl or tls');
  if (parsed.hostname === '') throw wrong(url, 'names no host');
  if (!['', '/'].includes(parsed.pathname) || parsed.search !== '' || parsed.hash !== '') {
    throw wrong(url, 'carries a path, query or fragment, which MQTT over TCP does not have');
  }
  const port = parsed.port === '' ? scheme.port : Number(parsed.port);
  if (port === 0) throw wrong(url, 'names port 0');
  const name = scheme.secure ? 'mqtts' : 'mqtt';
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    secure: scheme.secure,
    text: `${name}://${parsed.hostname}:${port}`,
  };
}

function withoutUser(url: string): string {
  return url.replace(/\/\/.*@/s, '//…@');
}

function wrong(url: string, fault: string): VigieError {
  return new VigieError(
    'configuration.wrong',
    `the broker URL "${url}" ${fault} (write it as mqtt://host:1883 or mqtts://host:8883)`,
  );
}
