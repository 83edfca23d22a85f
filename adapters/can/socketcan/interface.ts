/** The kernel's facts about a network interface (netdevice(7)). */
import { readFileSync } from 'node:fs';
import { ARPHRD_CAN, IFF_UP, IFNAMSIZ, SIOCGIFFLAGS, SIOCGIFHWADDR, SIOCGIFINDEX, SIOCGIFMTU } from './constants.ts';
import type { Libc } from './libc.ts';

export interface Interface {
  /** Stays with the interface when its name changes; never given to another. */
  readonly index: number;
  readonly isUp: boolean;
  readonly isCan: boolean;
  /** 16 for classic CAN, 72 where FD frames go. */
  readonly mtu: number;
}

/** `struct ifreq` where a `long` has 8 bytes; with 4 it is shorter. */
const IFREQ_SIZE = 40;

/** True for a name that the kernel could have given to an interface (net/core/dev.c, dev_valid_name). */
export function isInterfaceName(name: string): boolean {
  return name !== '.' && name !== '..' && /^[!-.0-9;-~]{1,15}$/.test(name);
}

/**
 * Looks an interface up by name.
 * @param descriptor any socket
 * @returns a negative errno when it is not there
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
    // Index and MTU are an int, flags and the hardware's type a short.
    const short = what === SIOCGIFFLAGS || what === SIOCGIFHWADDR;
    answers.push(short ? view.getUint16(IFNAMSIZ, true) : view.getInt32(IFNAMSIZ, true));
  }
  const [index = 0, flags = 0, type = 0, mtu = 0] = answers;
  return { index, isUp: (flags & IFF_UP) !== 0, isCan: type === ARPHRD_CAN, mtu };
}

/**
 * Frames that an interface received and then dropped, also when the processor's backlog (net.core.netdev_max_backlog) was
 * full, for all time; undefined when the kernel gives no number (sysfs is not mounted, the interface is gone).
 */
export function droppedBy(name: string): number | undefined {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/statistics/rx_dropped`, 'utf8'));
  } catch {
    return undefined;
  }
}
