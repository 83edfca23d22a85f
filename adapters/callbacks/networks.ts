/** Detects addresses of the public internet according to IANA's special-purpose registries (RFC 6890, RFC 8190). */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { ipv6Groups } from '../../protocol/ip-networks.ts';

/** IPv4 prefixes that are not globally reachable, including multicast and reserved space. */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared address space of carriers (RFC 6598).
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Non-public prefixes in global unicast (2000::/3): IETF assignments with Teredo, documentation, 6to4, SRv6. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const blocked4 = new BlockList();
for (const [address, prefix] of special4) blocked4.addSubnet(address, prefix, 'ipv4');
const blocked6 = new BlockList();
for (const [address, prefix] of special6) blocked6.addSubnet(address, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/** Returns the IPv4 address that an IPv6 address contains: mapped (RFC 4291 §2.5.5.2) or NAT64 (RFC 6052 §2.1). */
export function embedded(address: string): string | undefined {
  if (!isIPv6(address.replace(/%.*$/, ''))) return undefined;
  const groups = ipv6Groups(address);
  const head = groups.slice(0, 6).join(':');
  // Networks without IPv4, such as mobile ones, reach IPv4 hosts through 64:ff9b::/96.
  if (head !== '0:0:0:0:0:65535' && head !== `${0x64}:${0xff9b}:0:0:0:0`) return undefined;
  const [, , , , , , high = 0, low = 0] = groups;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Returns true for an address of the public internet; false also for a string that is not an address. */
export function isPublic(address: string): boolean {
  const inner = embedded(address) ?? address;
  if (isIPv4(inner)) return !blocked4.check(inner, 'ipv4');
  const bare = inner.replace(/%.*$/, '');
  return isIPv6(bare) && global6.check(bare, 'ipv6') && !blocked6.check(bare, 'ipv6');
}

/** Parses networks such as `192.168.1.0/24`, or single addresses. @throws RangeError for other strings */
export function networksOf(list: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const entry of list) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    const longest = family === 'ipv4' ? 32 : 128;
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (family === undefined || bits < 0 || bits > longest) throw new RangeError(`${entry} is not a network`);
    networks.addSubnet(address, bits, family);
  }
  return networks;
}
