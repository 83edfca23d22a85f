/** Networks and IP addresses in configuration files. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { line } from './fields.ts';

export const network = line('A network or an address', {
  pattern: '^[0-9a-fA-F:.]+(/[0-9]{1,3})?$',
  expected: 'a network such as 192.168.1.0/24, or an address',
});

/** Returns true for an address, or for a network in CIDR notation (RFC 4632 §3.1). */
export function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/');
  if (isIP(address) === 0) return false;
  try {
    new BlockList().addSubnet(address, Number(bits ?? 32), isIPv4(address) ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    // Node rejects a prefix that is too long for the address family.
    return false;
  }
}
