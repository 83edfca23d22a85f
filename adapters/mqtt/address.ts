/** Parses the URL of a broker. */
import { VigieError } from '../../protocol/errors.ts';

/** A broker's address. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  /** True if TLS is used from the first byte (`mqtts`). */
  readonly secure: boolean;
  /** The URL for messages and logs; it contains no secrets. */
  readonly text: string;
}

/** Transports by URL scheme. The ports are those that IANA has registered for MQTT. */
const schemes: Readonly<Record<string, { readonly secure: boolean; readonly port: number }>> = {
  'mqtt:': { secure: false, port: 1883 },
  'tcp:': { secure: false, port: 1883 },
  'mqtts:': { secure: true, port: 8883 },
  'ssl:': { secure: true, port: 8883 },
  'tls:': { secure: true, port: 8883 },
};

/**
 * Parses `mqtt://host[:port]` or `mqtts://host[:port]` (also with the schemes tcp, ssl and tls).
 * Throws `configuration.wrong` for other strings, and for a URL with user or password, because URLs are logged.
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
