/**
 * Protects against requests into networks that only the car can reach (server-side request forgery, CWE-918): each
 * connection resolves the name itself and connects only to permitted addresses. So it has no effect if the name
 * resolves to another address the second time.
 */
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import { type BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { VigieError } from '../../protocol/errors.ts';
import { embedded, isPublic, networksOf } from './networks.ts';

export interface AddressRules {
  /** Networks (`192.168.1.0/24`) and addresses that are permitted although they are not public. */
  readonly networks?: readonly string[];
  /** Permits http and ws, with which anybody on the route can read and change notifications. */
  readonly allowHttp?: boolean;
}

export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Error code if a connection was refused because its address is not permitted. */
const FORBIDDEN = 'VIGIE_FORBIDDEN_ADDRESS';

export class Addresses {
  readonly #networks: BlockList;
  readonly #allowHttp: boolean;
  readonly #resolve: Resolve;

  /** @throws RangeError for an invalid network */
  constructor({ networks = [], allowHttp = false }: AddressRules = {}, resolveName: Resolve = resolve) {
    this.#networks = networksOf(networks);
    this.#allowHttp = allowHttp;
    this.#resolve = resolveName;
  }

  permits(address: string): boolean {
    if (isPublic(address)) return true;
    const inner = (embedded(address) ?? address).replace(/%.*$/, '');
    return isIP(inner) !== 0 && this.#networks.check(inner, isIPv4(inner) ? 'ipv4' : 'ipv6');
  }

  /** @throws VigieError `input.malformed` for an address to which a connection would always be refused */
  check(url: string, where: string): void {
    const { protocol, hostname } = new URL(url);
    if ((protocol === 'http:' || protocol === 'ws:') && !this.#allowHttp) {
      const secure = protocol === 'http:' ? 'https' : 'wss';
      throw new VigieError('input.malformed', `must begin with ${secure}:// (or set callbacks.allowHttp)`, { where });
    }
    const host = hostname.replace(/^\[|\]$/g, '');
    const loopback = /^(.*\.)?localhost\.?$/i.test(host);
    if (loopback ? this.permits('127.0.0.1') || this.permits('::1') : isIP(host) === 0 || this.permits(host)) return;
    throw new VigieError(
      'input.malformed',
      `${host} is not a public address (or add its network to callbacks.networks)`,
      {
        where,
      },
    );
  }

  /** Resolves names for `net.connect`, but returns only permitted addresses. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    const { all, ...rest } = options;
    this.#resolve(hostname, { ...rest, all: true }, (error, found) => {
      if (error !== null) {
        done(error, '', 0);
        return;
      }
      const addresses = found.filter(({ address }) => this.permits(address));
      const [first] = addresses;
      if (first === undefined) done(forbidden(hostname, found), '', 0);
      else if (all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

  /** Returns an error if the host is an address that is not permitted; undefined for other addresses and for names. */
  refusal(hostname: string): Error | undefined {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) === 0 || this.permits(host)) return undefined;
    return forbidden(host, []);
  }
}

function forbidden(hostname: string, found: readonly LookupAddress[]): Error {
  const addresses = found.map(({ address }) => address).join(', ');
  const error = new Error(`${hostname}${addresses === '' ? '' : ` (${addresses})`} is not a public address`);
  return Object.assign(error, { code: FORBIDDEN });
}
