/** Networks of IP addresses: those that count as one client, and those that one operator may have. */

/**
 * Returns the eight groups of a valid IPv6 address, without its zone. The last 32 bits may be written as IPv4.
 * RFC 4291 §2.2, RFC 4007 §11.
 */
export function ipv6Groups(text: string): readonly number[] {
  const address = text.replace(/%.*$/, '');
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, head = '', ...bytes] = dotted ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  const plain = dotted === null ? address : `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const [left = '', right] = plain.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(left), right === undefined ? [] : groups(right)];
  const zeros = right === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...Array.from({ length: zeros }, () => 0), ...last];
}

/** Returns the addresses of one client: an IPv4 address, or an IPv6 /64 (RFC 4291 §2.5.4). Keeps other strings. */
export function networkOf(address: string): string {
  return address.includes(':') ? `${prefixOf(address, 4)}::/64` : address;
}

/**
 * Returns the addresses that one operator may have: an IPv4 /24 or an IPv6 /48 (RFC 6177). Keeps other strings.
 */
export function wideNetworkOf(address: string): string {
  if (address.includes(':')) return prefixOf(address, 3);
  return /^\d+\.\d+\.\d+\.\d+$/.test(address) ? address.slice(0, address.lastIndexOf('.')) : address;
}

function prefixOf(address: string, groups: number): string {
  return ipv6Groups(address)
    .slice(0, groups)
    .map((group) => group.toString(16))
    .join(':');
}
