/** Addresses of clients behind proxies: `Forwarded` (RFC 7239) or `X-Forwarded-For`, from trusted proxies only. */
import { BlockList, isIP, isIPv4 } from 'node:net';

interface ForwardedHeaders {
  readonly forwarded?: string | undefined;
  readonly 'x-forwarded-for'?: string | readonly string[] | undefined;
}

/** Stands for a client address that no trusted proxy reports. Not an address, so it never matches this machine. */
const UNKNOWN_CLIENT = 'unknown';
/** Obfuscated identifiers that hide addresses (RFC 7239 §6.3). */
const HIDDEN = /^_[A-Za-z0-9._-]{1,64}$/;
/** One pair according to RFC 7239 §4; its value is a token or a quoted string. */
const PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")$/;

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /** @param list valid addresses and networks in CIDR notation */
  constructor(list: readonly string[]) {
    this.#isEmpty = list.length === 0;
    for (const one of list) {
      const [address = '', bits] = one.split('/');
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (bits === undefined) this.#networks.addAddress(address, family);
      else this.#networks.addSubnet(address, Number(bits), family);
    }
  }

  /**
   * Returns the address of the client whose request `peer` sent: the rightmost forwarded address that is not a trusted
   * proxy, since clients can write anything to the left of it. Returns {@link UNKNOWN_CLIENT} if that is not an
   * address, or if both headers are present and differ: a proxy writes one and forwards the other unchanged.
   */
  clientOf(peer: string, headers: ForwardedHeaders): string {
    const address = plain(peer);
    if (this.#isEmpty || !this.#has(address)) return address;
    const clients = [
      ...(headers.forwarded === undefined ? [] : [this.#rightmost(nodesOf(headers.forwarded))]),
      ...(headers['x-forwarded-for'] === undefined
        ? []
        : [this.#rightmost(String(headers['x-forwarded-for']).split(','))]),
    ];
    const [client = address, other = client] = clients;
    return client === other ? client : UNKNOWN_CLIENT;
  }

  #rightmost(nodes: readonly (string | undefined)[]): string {
    let client = UNKNOWN_CLIENT;
    for (const node of nodes.toReversed()) {
      client = clientIn(node ?? '');
      if (!this.#has(client)) return client;
    }
    return client;
  }

  #has(address: string): boolean {
    return isIP(address) > 0 && this.#networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
}

/** Returns the `for` value of each element of a `Forwarded` header; undefined for an element without one. */
function nodesOf(header: string): readonly (string | undefined)[] {
  return splitOutsideQuotes(header, ',').map((element) => {
    for (const pair of splitOutsideQuotes(element, ';')) {
      const [, name = '', token, quoted] = PAIR.exec(pair.trim()) ?? [];
      if (name.toLowerCase() === 'for') return token ?? quoted?.replace(/\\(.)/g, '$1');
    }
    return undefined;
  });
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === '\\' && isQuoted) at++;
    else if (text[at] === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Returns an address without its port, or a hidden identifier. */
function clientIn(node: string): string {
  const text = node.trim();
  const bare = /^\[(.+)\](?::\w+)?$/.exec(text)?.[1] ?? /^([\d.]+):\w+$/.exec(text)?.[1] ?? text;
  const address = plain(bare);
  return isIP(address) > 0 || HIDDEN.test(text) ? address : UNKNOWN_CLIENT;
}

/** Converts IPv4-mapped IPv6 to IPv4, and IPv6 to its canonical spelling. */
function plain(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(mapped) === 6 && !mapped.includes('%') ? new URL(`http://[${mapped}]`).hostname.slice(1, -1) : mapped;
}
