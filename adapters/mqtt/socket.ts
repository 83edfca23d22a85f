/** Sockets to a broker: TCP or TLS, without Nagle's delay. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { type BrokerAddress, parseAddress } from './address.ts';
import { BrokerCredentials, type TlsSource } from './credentials.ts';

/** Names of the TLS files in error messages. */
export interface TlsNames {
  readonly ca: string;
  /** Name of the client's certificate and key. */
  readonly certificate: string;
  /** Advice to give if the broker refuses the client. */
  readonly refused?: string;
}

/** Names of the configuration fields. */
const NAMES: TlsNames = { ca: 'ca', certificate: 'cert and key' };

/** A broker that can be dialed: its address and, for TLS, the trusted authorities and the client's certificate. */
export interface BrokerEndpoint {
  readonly address: BrokerAddress;
  readonly credentials: BrokerCredentials | undefined;
  readonly names: TlsNames;
}

/**
 * Checks URLs and certificates once, before the first connection. Throws `configuration.wrong`, also if certificates
 * are given for an unencrypted URL: they would be ignored although the user expects protection.
 */
export function makeTargets(
  url: string | readonly string[],
  tls: TlsSource | undefined,
  log: Log,
  names: TlsNames = NAMES,
): readonly [BrokerEndpoint, ...BrokerEndpoint[]] {
  const urls = typeof url === 'string' ? [url] : url;
  const addresses = urls.map(parseAddress);
  const open = addresses.find((address) => !address.secure);
  if (tls !== undefined && open !== undefined) {
    throw new VigieError(
      'configuration.wrong',
      `certificates are given but ${open.text} is not encrypted (use mqtts://, or leave the certificates out)`,
    );
  }
  const credentials = addresses.some((address) => address.secure) ? new BrokerCredentials(tls ?? {}, log) : undefined;
  const targetOf = (address: BrokerAddress): BrokerEndpoint => ({
    address,
    credentials: address.secure ? credentials : undefined,
    names,
  });
  const [first, ...others] = addresses;
  if (first === undefined) {
    throw new VigieError('configuration.wrong', 'no broker URL is given (e.g. mqtts://host:8883)');
  }
  return [targetOf(first), ...others.map(targetOf)];
}

/**
 * Opens a connection. Sets TCP_NODELAY: with Nagle's algorithm a packet of a few bytes would wait for the delayed
 * acknowledgement of the previous packet, about 40 ms on each side (RFC 896, RFC 1122 clause 4.2.3.2).
 */
export function openSocket(target: BrokerEndpoint, reached: () => void): Socket {
  const { host, port } = target.address;
  let socket: Socket;
  try {
    socket =
      target.credentials === undefined
        ? connectTcp({ host, port }).once('connect', reached)
        : connectTls({
            host,
            port,
            secureContext: target.credentials.context(),
            rejectUnauthorized: true,
            // The server name for SNI must not be an IP address (RFC 6066 clause 3).
            ...(isIP(host) === 0 ? { servername: host } : {}),
          }).once('secureConnect', reached);
  } catch (error) {
    return failedSocket(error);
  }
  return socket.once('connect', () => socket.setNoDelay(true));
}

/** Returns a socket that never opens: it reports a local error like a connection that the network refuses. */
export function failedSocket(reason: unknown): Socket {
  const error = reason instanceof Error ? reason : new Error(String(reason));
  // Nothing is sent, because the lookup fails.
  return connectTcp({ host: 'nowhere.invalid', port: 1, lookup: (_host, _options, found) => found(error, '', 4) });
}
