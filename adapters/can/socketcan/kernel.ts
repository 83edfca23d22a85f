/** SocketCAN of this machine. */
import { constants } from 'node:os';
import { VigieError } from '../../../protocol/errors.ts';
import type { CanKernel } from './bus-socket.ts';
import { AF_CAN, CAN_RAW, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_RAW } from './constants.ts';
import { errorName, type Libc, loadLibc } from './libc.ts';
import { watchLinks } from './links.ts';
import { openBusSocket } from './socket.ts';

/**
 * Loads the SocketCAN interface of this machine's kernel.
 * @throws VigieError `input.unreadable` with advice, if the kernel has no CAN or this Node cannot access it
 */
export async function loadCanKernel(): Promise<CanKernel> {
  if (process.platform !== 'linux') {
    throw new VigieError('input.unreadable', `SocketCAN is part of Linux, and this is ${process.platform}`);
  }
  const libc = await loadLibc();
  libc.close(openRawSocket(libc));
  return {
    open: (options) => openBusSocket(libc, openRawSocket(libc), options),
    watchLinks: (changed) => watchLinks(libc, changed),
  };
}

const { EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES } = constants.errno;

function openRawSocket(libc: Libc): number {
  const descriptor = libc.socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, CAN_RAW);
  if (descriptor >= 0) return descriptor;
  const advice =
    {
      [EAFNOSUPPORT]: 'this kernel has no CAN: load the modules can and can_raw, or use a kernel with CONFIG_CAN',
      [EPROTONOSUPPORT]: 'this kernel has no raw CAN sockets: load the module can_raw, or use one with CONFIG_CAN_RAW',
      [EPERM]: 'CAN sockets are forbidden to this process: allow AF_CAN in its sandbox (RestrictAddressFamilies=)',
      [EACCES]: 'CAN sockets are forbidden to this process: allow AF_CAN in its sandbox (RestrictAddressFamilies=)',
    }[-descriptor] ?? 'no CAN socket can be opened';
  throw new VigieError('input.unreadable', `${advice} (${errorName(descriptor)})`);
}
