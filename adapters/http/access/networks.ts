/** Networks that a client may take addresses of at will. */
import { isIP } from 'node:net';

/** Addresses of one client: an IPv4 address, or an IPv6 network of 64 bits (RFC 4291 §2.5.4). */
export function networkOf(address: string): string {
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** Addresses that one operator can have: IPv4 networks of 24 bits, IPv6 networks of 48 bits (RFC 6177). */
export function wideNetworkOf(address: string): string {
  if (isIP(address) === 4) return address.slice(0, address.lastIndexOf('.'));
  return isIP(address) === 6 ? groupsOf(address).slice(0, 3).join(':') : address;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
}
