/** Notifications from the kernel that network interfaces changed (rtnetlink(7)). */
import { AF_NETLINK, NETLINK_ROUTE, RTMGRP_LINK, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_RAW } from './constants.ts';
import type { Libc } from './libc.ts';

/** Maximum number of messages read per turn, so that other work is not delayed. */
const TURN = 64;

/**
 * Calls `changed` after each burst of changes. The messages are not parsed: each listener checks its own interface,
 * so that a message lost by overflow does no harm.
 * @returns a function that stops the calls; undefined if the kernel or a sandbox refuses
 */
export function watchLinks(libc: Libc, changed: () => void): (() => void) | undefined {
  const descriptor = libc.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return undefined;
  // struct sockaddr_nl: family, padding, port (the kernel's choice), groups
  const address = new Uint8Array(12);
  const view = new DataView(address.buffer);
  view.setUint16(0, AF_NETLINK, true);
  view.setUint32(8, RTMGRP_LINK, true);
  if (libc.bind(descriptor, address) < 0) {
    libc.close(descriptor);
    return undefined;
  }
  const readiness = libc.readiness(descriptor);
  // Messages are truncated to this size: they are not parsed.
  const scratch = new Uint8Array(16);
  let ended = false;
  const drain = (): void => {
    for (let i = 0; i < TURN && libc.receive(descriptor, scratch) >= 0; i++);
    changed();
    // `changed` may have stopped the watch.
    if (!ended) readiness.wait(drain);
  };
  readiness.wait(drain);
  return () => {
    ended = true;
    readiness.close();
    libc.close(descriptor);
  };
}
