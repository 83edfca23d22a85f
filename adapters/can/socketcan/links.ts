/** Word from the kernel that network interfaces changed (rtnetlink(7)). */
import { AF_NETLINK, NETLINK_ROUTE, RTMGRP_LINK, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_RAW } from './constants.ts';
import type { Libc } from './libc.ts';

/** Messages fetched before others get their turn. */
const TURN = 64;

/**
 * Calls `changed` after each burst of changes. What changed is not read: each listener looks up its own interface,
 * so a message lost by overflow does no harm.
 * @returns what ends it; undefined when the kernel or a sandbox refuses
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
  // Messages are cut to this: they are not read.
  const scratch = new Uint8Array(16);
  let ended = false;
  const drain = (): void => {
    for (let i = 0; i < TURN && libc.receive(descriptor, scratch) >= 0; i++);
    changed();
    // `changed` may have ended it.
    if (!ended) readiness.wait(drain);
  };
  readiness.wait(drain);
  return () => {
    ended = true;
    readiness.close();
    libc.close(descriptor);
  };
}
