/**
 * Host names of the server. A web page whose name resolves to this machine (DNS rebinding) must not read or control the
 * car through a person's browser. Also, links repeat the name in the request.
 */
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Returns true for an address of the machine itself (RFC 6890). */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** Last accepted name of each connection: checking the certificate takes longer than a whole request. */
  readonly #found = new WeakMap<Socket, string>();

  /** @param names further names and addresses that {@link has} accepts */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(nameOf));
  }

  /**
   * Returns true if a request on `socket` may have the Host `authority`: a configured name, the local address of the
   * connection, `localhost` on a loopback connection, or a name in the server's certificate. Accepts any port, because
   * port forwarding changes it and checking it protects nothing.
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

/** Returns a host name, an IPv4 address or an IPv6 address in brackets, normalized and without the port. */
function nameOf(authority: string): string {
  const name = authority.replace(/:\d+$/, '').toLowerCase();
  return name.startsWith('[') && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/** Checks only the subject alternative names: RFC 9525 §6.3 allows no others. */
function isCertified(name: string, socket: TLSSocket): boolean {
  const certificate = socket.getX509Certificate();
  const address = name.replace(/^\[|\]$/g, '');
  const found = isIP(address) > 0 ? certificate?.checkIP(address) : certificate?.checkHost(name, { subject: 'never' });
  return found !== undefined;
}
