/** Sockets to a broker: TCP or TLS, without Nagle's delay. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { VigieError } from '../../protocol/errors.ts';
import { type BrokerAddress, parseAddress } from './address.ts';

/** Certificates as PEM bytes. Without `ca` the system's authorities are trusted. */
export interface TlsFiles {
  readonly ca?: Uint8Array;
  /** The client's certificate; a broker rule may take the vehicle's identity from its CN. */
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
}

/** A broker that can be dialed: its address and, for TLS, what to trust and to show. */
export interface Target {
  readonly address: BrokerAddress;
  readonly context: SecureContext | undefined;
}

/**
 * Checks URLs and certificates once, before the first connection. Throws `configuration.wrong`, also for
 * certificates given beside an unencrypted URL: they would be ignored where a person expects protection.
 */
export function makeTargets(url: string | readonly string[], tls: TlsFiles | undefined): readonly Target[] {
  const urls = typeof url === 'string' ? [url] : url;
  if (urls.length === 0) throw new VigieError('configuration.wrong', 'no broker URL is given (e.g. mqtts://host:8883)');
  const addresses = urls.map(parseAddress);
  const open = addresses.find((address) => !address.secure);
  if (tls !== undefined && open !== undefined) {
    throw new VigieError(
      'configuration.wrong',
      `certificates are given but ${open.text} is not encrypted (use mqtts://, or leave the certificates out)`,
    );
  }
  const context = addresses.some((address) => address.secure) ? secureContext(tls ?? {}) : undefined;
  return addresses.map((address) => ({ address, context: address.secure ? context : undefined }));
}

function secureContext(tls: TlsFiles): SecureContext {
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(tls.ca === undefined ? {} : { ca: asBuffer(tls.ca) }),
      ...(tls.cert === undefined ? {} : { cert: asBuffer(tls.cert) }),
      ...(tls.key === undefined ? {} : { key: asBuffer(tls.key) }),
    });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new VigieError(
      'configuration.wrong',
      `the certificates for the broker cannot be used: ${text} (ca, cert and key must be PEM, and key belong to cert)`,
      { cause },
    );
  }
}

/**
 * Starts a connection. TCP_NODELAY is set: with Nagle's algorithm an answer of a few bytes waits for the delayed
 * acknowledgement of the packet before it, some 40 ms on each side (RFC 896, RFC 1122 clause 4.2.3.2).
 */
export function openSocket(target: Target, reached: () => void): Socket {
  const { host, port } = target.address;
  const socket =
    target.context === undefined
      ? connectTcp({ host, port }).once('connect', reached)
      : connectTls({
          host,
          port,
          secureContext: target.context,
          rejectUnauthorized: true,
          // A name for SNI must not be an address (RFC 6066 clause 3).
          ...(isIP(host) === 0 ? { servername: host } : {}),
        }).once('secureConnect', reached);
  return socket.once('connect', () => socket.setNoDelay(true));
}

/** The same bytes as the Buffer that Node's own interfaces ask for; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
