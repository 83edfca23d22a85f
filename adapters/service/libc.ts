/** Datagrams to a Unix socket, which Node's own modules cannot send: the C library, bound when it is first needed. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { VigieError } from '../../protocol/errors.ts';

/** bits/socket.h, the same on x86, arm and arm64. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0x8_0000;
const MSG_NOSIGNAL = 0x4000;
/** asm-generic/socket.h: with a `struct timeval` of two longs. */
const SOL_SOCKET = 1;
const SO_SNDTIMEO = 21;
/** Longest wait for a manager with a full queue, as sd_notify(3) waits, s. */
const PATIENCE = 1;
/** sys/un.h: what fits a path, its closing NUL included. */
const LONGEST = 108;

/** Sends a datagram to one Unix socket. */
export interface Datagrams {
  /** @throws VigieError `input.unreadable` when no process receives it */
  send(bytes: Uint8Array): void;
  close(): void;
}

/**
 * Makes a socket that sends to `path`; `@` at its beginning stands for the abstract name space (unix(7)).
 * @throws VigieError `input.unreadable` when the C library cannot be called, `configuration.wrong` for a path too long
 */
export async function datagramsTo(path: string): Promise<Datagrams> {
  const address = addressOf(path);
  const { default: koffi } = await import('koffi').catch((cause: unknown) => {
    throw new VigieError(
      'input.unreadable',
      `koffi's binary for ${process.platform}-${process.arch} cannot be used: ${(cause as Error).message}`,
      { where: path, cause },
    );
  });
  const library = koffi.load(null);
  const socket = library.func('int socket(int domain, int type, int protocol)');
  const sendto = library.func(
    'intptr_t sendto(int fd, void *bytes, size_t length, int flags, void *address, unsigned int size)',
  );
  const setsockopt = library.func('int setsockopt(int fd, int level, int name, void *value, unsigned int length)');
  const close = library.func('int close(int fd)');
  const failed = (what: string): VigieError =>
    new VigieError('input.unreadable', `${what}: ${getSystemErrorName(-koffi.errno())}`, { where: path });
  const descriptor: number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw failed('no socket could be made');
  const time = koffi.sizeof('long') === 8 ? BigInt64Array.of(BigInt(PATIENCE), 0n) : Int32Array.of(PATIENCE, 0);
  if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, time, time.byteLength) < 0) {
    const error = failed('the socket would be waited for without end');
    close(descriptor);
    throw error;
  }
  return {
    send(bytes) {
      const sent = (): number => sendto(descriptor, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
      let result = sent();
      while (result < 0 && koffi.errno() === constants.errno.EINTR) result = sent();
      if (result < 0) throw failed('the service manager does not take a message');
    },
    close() {
      close(descriptor);
    },
  };
}

/** `struct sockaddr_un`: the family in the machine's byte order, then the path. */
export function addressOf(path: string): Uint8Array {
  const abstract = path.startsWith('@');
  const name = new TextEncoder().encode(abstract ? path.slice(1) : path);
  if (name.length === 0 || name.length > LONGEST - 1) {
    throw new VigieError('configuration.wrong', `a socket's path has 1 to ${LONGEST - 1} bytes`, { where: path });
  }
  // In the abstract name space a NUL comes first and none at the end.
  const address = new Uint8Array(2 + name.length + 1);
  new Uint16Array(address.buffer, 0, 1)[0] = AF_UNIX;
  address.set(name, abstract ? 3 : 2);
  return address;
}
