/** The system calls that SocketCAN uses, bound to the C library of the running process. */
import { getSystemErrorName } from 'node:util';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import { withPackage } from '../../../protocol/missing-package.ts';
import { MSG_DONTWAIT } from './constants.ts';
import type { PointerSize } from './layouts.ts';

/** System calls. They return the kernel's result: a number of at least 0, or a negative errno. No call blocks. */
export interface Libc {
  readonly pointerSize: PointerSize;
  socket(domain: number, type: number, protocol: number): number;
  bind(descriptor: number, address: Uint8Array): number;
  setOption(descriptor: number, level: number, name: number, value: Uint8Array): number;
  /** Fills `value`. */
  getOption(descriptor: number, level: number, name: number, value: Uint8Array): number;
  /** Reads and writes `argument` in place. */
  ioctl(descriptor: number, request: number, argument: Uint8Array): number;
  /** Receives messages. `vector` is an array of `struct mmsghdr` that contains the memory addresses. Never waits. */
  receiveMany(descriptor: number, vector: Uint8Array, count: number): number;
  /** Receives one datagram. Never waits. */
  receive(descriptor: number, into: Uint8Array): number;
  write(descriptor: number, bytes: Uint8Array, length: number): number;
  close(descriptor: number): number;
  /** Returns the memory address of a buffer. The buffer does not move while it is referenced. */
  address(buffer: ArrayBuffer): bigint;
  /** Watches a descriptor in the process's own event loop, without a thread or timer. */
  readiness(descriptor: number): Readiness;
}

export interface Readiness {
  /** Calls `ready` once, when data or an error can be read. */
  wait(ready: () => void): void;
  /** Stops watching: the descriptor may then be closed, and `ready` is not called any more. */
  close(): void;
}

/** Returns the name of a negative errno, e.g. ENETDOWN. */
export function errorName(result: number): string {
  return getSystemErrorName(result);
}

type Koffi = typeof import('koffi')['default'];

let bound: Promise<Libc> | undefined;

/**
 * Binds the C library once for the process.
 * @throws VigieError `input.unreadable` if this build of Node cannot call C functions
 */
export function loadLibc(): Promise<Libc> {
  bound ??= bind();
  return bound;
}

async function bind(): Promise<Libc> {
  try {
    // Imported only here: an agent without CAN must also run on platforms for which koffi has no binary.
    const { default: koffi } = await withPackage(() => import('koffi'));
    return bindTo(koffi);
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new VigieError(
      'input.unreadable',
      `SocketCAN needs koffi's binary for ${process.platform}-${process.arch}, which cannot be used: ${reason}; ` +
        'install koffi for this platform, or use a log, slcan or OBD adapter instead',
      { cause },
    );
  }
}

function bindTo(koffi: Koffi): Libc {
  // Without a name, this loads the library that the process is linked with, glibc or musl.
  const library = koffi.load(null);
  const socket = library.func('int socket(int domain, int type, int protocol)');
  const bindSocket = library.func('int bind(int fd, void *address, unsigned int length)');
  const setsockopt = library.func('int setsockopt(int fd, int level, int name, void *value, unsigned int length)');
  const getsockopt = library.func('int getsockopt(int fd, int level, int name, void *value, void *length)');
  const ioctl = library.func('int ioctl(int fd, unsigned long request, ...)');
  const recvmmsg = library.func('int recvmmsg(int fd, void *vector, unsigned int count, int flags, void *timeout)');
  const recv = library.func('intptr_t recv(int fd, void *into, size_t length, int flags)');
  const write = library.func('intptr_t write(int fd, void *bytes, size_t length)');
  const close = library.func('int close(int fd)');
  const outcome = (result: number): number => (result < 0 ? -koffi.errno() : result);
  return {
    pointerSize: koffi.sizeof('void *') === 4 ? 4 : 8,
    socket: (domain, type, protocol) => outcome(socket(domain, type, protocol)),
    bind: (descriptor, address) => outcome(bindSocket(descriptor, address, address.length)),
    setOption: (descriptor, level, name, value) => outcome(setsockopt(descriptor, level, name, value, value.length)),
    getOption: (descriptor, level, name, value) =>
      outcome(getsockopt(descriptor, level, name, value, Uint32Array.of(value.length))),
    ioctl: (descriptor, request, argument) => outcome(ioctl(descriptor, request, 'void *', argument)),
    receiveMany: (descriptor, vector, count) => outcome(recvmmsg(descriptor, vector, count, MSG_DONTWAIT, null)),
    receive: (descriptor, into) => outcome(recv(descriptor, into, into.length, MSG_DONTWAIT)),
    write: (descriptor, bytes, length) => outcome(write(descriptor, bytes, length)),
    close: (descriptor) => outcome(close(descriptor)),
    address: (buffer) => koffi.address(buffer),
    readiness: (descriptor) => new PolledDescriptor(koffi, descriptor),
  };
}

type PollHandle = ReturnType<Koffi['node']['poll']>;

class PolledDescriptor implements Readiness {
  readonly #koffi: Koffi;
  readonly #descriptor: number;
  #handle: PollHandle | undefined;
  #ready: (() => void) | undefined;

  constructor(koffi: Koffi, descriptor: number) {
    this.#koffi = koffi;
    this.#descriptor = descriptor;
  }

  wait(ready: () => void): void {
    this.#ready = ready;
    if (this.#handle === undefined) this.#handle = this.#koffi.node.poll(this.#descriptor, this.#polled);
    else this.#handle.start(this.#polled);
  }

  close(): void {
    this.#ready = undefined;
    this.#handle?.close();
    this.#handle = undefined;
  }

  readonly #polled = (): void => {
    // Stop first: an error of the socket is also reported, and would be reported repeatedly.
    this.#handle?.stop();
    // koffi calls from outside Node's event loop: exceptions would be lost and promises would not run.
    setImmediate(() => {
      const ready = this.#ready;
      this.#ready = undefined;
      ready?.();
    });
  };
}
