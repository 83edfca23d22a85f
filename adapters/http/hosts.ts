/**
 * Host names of the server. A web page whose name resolves to this machine (DNS rebinding) must not read or command the
 * car through a person's browser, and links repeat the name.
 */
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Returns true for an address of the machine itself (RFC 6890). */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** Last accepted name of a connection: checking a certificate takes longer than a request. */
  readonly #found = new WeakMap<Socket, string>();

  /** `names`: names and addresses, in addition to those that {@link has} accepts. */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(nameOf));
  }

  /**
   * Returns true if a request on `socket` may name the host `authority`: a configured name, the local address of the
   * connection, `localhost` if that is the machine itself, or a name in the server's certificate. Accepts any port:
   * port forwarding changes it, and it protects no name.
   */
  has(authority: string, socket: Socket): boolean {
    if (this.#found.get(socket) === authority) return true;
    const name = nameOf(authority);
    const local = (socket.localAddress ?? '').replace(/^::ffff:/, '');
    const own =
      this.#names.has(name) ||
      name === nameOf(local.includes(':') ? `[${local}]` : local) ||
      (isLoopback(local) && isLoopback(name)) ||
      (socket instanceof TLSSocket && isCertified(name, socket));
    if (own) this.#found.set(socket, authority);
    return own;
  }
}

/** Returns a name, an IPv4 address or an IPv6 address in brackets, in canonical spelling, without the port. */
function nameOf(authority: string): string {
  const name = authority.replace(/:\d+$/, '').toLowerCase();
  return name.startsWith('[') && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/** Checks the alternative names only: RFC 9525 §6.3 allows no others. */
function isCertified(name: string, socket: TLSSocket): boolean {
  const certificate = socket.getX509Certificate();
  const address = name.replace(/^\[|\]$/g, '');
  const found = isIP(address) > 0 ? certificate?.checkIP(address) : certificate?.checkHost(name, { subject: 'never' });
  return found !== undefined;
}
