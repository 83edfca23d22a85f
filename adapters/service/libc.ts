/** Sends datagrams to a Unix socket, which Node's modules cannot do: uses the C library, loaded on first use. */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { VigieError } from '../../protocol/errors.ts';

/** From bits/socket.h; equal on x86, arm and arm64. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0x8_0000;
const MSG_NOSIGNAL = 0x4000;
/** From asm-generic/socket.h. SO_SNDTIMEO takes a `struct timeval` of two longs. */
const SOL_SOCKET = 1;
const SO_SNDTIMEO = 21;
/** Maximum wait in s for a manager whose queue is full, as in sd_notify(3). */
const PATIENCE = 1;
/** From sys/un.h: maximum length of a path in bytes, including the closing NUL. */
const LONGEST = 108;

/** Sends datagrams to one Unix socket. */
export interface Datagrams {
  /** @throws VigieError `input.unreadable` if no process receives the datagram */
  send(bytes: Uint8Array): void;
  close(): void;
}

/**
 * Creates a socket that sends to `path`. A leading `@` stands for the abstract namespace (unix(7)).
 * @throws VigieError `input.unreadable` if libc or the socket fails, `configuration.wrong` for an invalid path
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

/** Returns `struct sockaddr_un`: the family in the machine's byte order, then the path. */
export function addressOf(path: string): Uint8Array {
  const abstract = path.startsWith('@');
  const name = new TextEncoder().encode(abstract ? path.slice(1) : path);
  if (name.length === 0 || name.length > LONGEST - 1) {
    throw new VigieError('configuration.wrong', `a socket's path has 1 to ${LONGEST - 1} bytes`, { where: path });
  }
  // A name in the abstract namespace has a leading NUL and no closing one.
  const address = new Uint8Array(2 + name.length + 1);
  new Uint16Array(address.buffer, 0, 1)[0] = AF_UNIX;
  address.set(name, abstract ? 3 : 2);
  return address;
}
