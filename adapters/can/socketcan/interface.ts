/** The kernel's data about a network interface (netdevice(7)). */
import { readFileSync } from 'node:fs';
import { ARPHRD_CAN, IFF_UP, IFNAMSIZ, SIOCGIFFLAGS, SIOCGIFHWADDR, SIOCGIFINDEX, SIOCGIFMTU } from './constants.ts';
import type { Libc } from './libc.ts';

export interface Interface {
  /** Index that stays the same if the interface is renamed, and is never reused. */
  readonly index: number;
  readonly isUp: boolean;
  readonly isCan: boolean;
  /** In bytes: 16 for classic CAN, 72 if the interface supports FD frames. */
  readonly mtu: number;
}

/** Size of `struct ifreq` with a `long` of 8 bytes; with 4 bytes it is shorter. */
const IFREQ_SIZE = 40;

/** Returns true for a valid interface name (net/core/dev.c, dev_valid_name). */
export function isInterfaceName(name: string): boolean {
  return name !== '.' && name !== '..' && /^[!-.0-9;-~]{1,15}$/.test(name);
}

/**
 * Finds an interface by name.
 * @param descriptor any socket
 * @returns a negative errno if it does not exist
 */
export function lookUp(libc: Pick<Libc, 'ioctl'>, descriptor: number, name: string): Interface | number {
  const request = new Uint8Array(IFREQ_SIZE);
  const view = new DataView(request.buffer);
  const answers: number[] = [];
  for (const what of [SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFHWADDR, SIOCGIFMTU]) {
    request.fill(0);
    for (let i = 0; i < name.length; i++) request[i] = name.charCodeAt(i);
    const result = libc.ioctl(descriptor, what, request);
    if (result < 0) return result;
    // Index and MTU are an `int`, the flags and the hardware type a `short`.
    const short = what === SIOCGIFFLAGS || what === SIOCGIFHWADDR;
    answers.push(short ? view.getUint16(IFNAMSIZ, true) : view.getInt32(IFNAMSIZ, true));
  }
  const [index = 0, flags = 0, type = 0, mtu = 0] = answers;
  return { index, isUp: (flags & IFF_UP) !== 0, isCan: type === ARPHRD_CAN, mtu };
}

/**
 * Returns the total number of frames that an interface received and then dropped, also because the processor's backlog
 * (net.core.netdev_max_backlog) was full. Undefined if the kernel has no number (sysfs not mounted, interface gone).
 */
export function droppedBy(name: string): number | undefined {
  return statistic(name, 'rx_dropped');
}

/** Returns the total number of frames that an interface received, whether a socket wants them or not, as above. */
export function receivedBy(name: string): number | undefined {
  return statistic(name, 'rx_packets');
}

function statistic(name: string, of: 'rx_dropped' | 'rx_packets'): number | undefined {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/statistics/${of}`, 'utf8'));
  } catch {
    return undefined;
  }
}
