/** Connections between the driver and the emulated adapter. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { LineEvents, OpenLine } from '../../../../agent/ports.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import type { VirtualClock } from '../../../rig/clock.ts';
import type { Emulator } from './emulator.ts';

/** A line within the process, without any delay. */
export class Cable {
  readonly #emulator: Emulator;
  readonly #pieces: (text: string) => Iterable<string>;
  #events: LineEvents | undefined;
  /** If true, no adapter is plugged in. */
  absent = false;
  opened = 0;

  /** @param pieces splits or corrupts the output of the adapter */
  constructor(emulator: Emulator, pieces: (text: string) => Iterable<string> = (text) => [text]) {
    this.#emulator = emulator;
    this.#pieces = pieces;
  }

  readonly open: OpenLine = async (events) => {
    if (this.absent) throw new VigieError('input.unreadable', 'no such device');
    this.opened++;
    this.#events = events;
    const deliver = (text: string): void => {
      for (const piece of this.#pieces(text)) {
        if (this.#events === events) events.data(Uint8Array.from(piece, (c) => Math.min(c.charCodeAt(0), 255)));
      }
    };
    this.#emulator.print = (text) => queueMicrotask(() => deliver(text));
    return {
      write: async (bytes) => {
        if (this.#events !== events) throw new VigieError('input.unreadable', 'unplugged');
        queueMicrotask(() => this.#emulator.receive(String.fromCharCode(...bytes)));
      },
      close: async () => {
        if (this.#events === events) this.#events = undefined;
      },
    };
  };

  unplug(): void {
    this.absent = true;
    const events = this.#events;
    this.#events = undefined;
    events?.closed('unplugged');
  }

  plug(): void {
    this.absent = false;
  }
}

/** Settles a promise while time passes on the virtual clock, within `limit` ms. */
export async function within<T>(clock: VirtualClock, promise: Promise<T>, limit = 600_000): Promise<T> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  const end = clock.monotonic() + limit;
  for (;;) {
    // Let all pending promise callbacks run.
    await new Promise((resolve) => setImmediate(resolve));
    if (settled) return promise;
    if (clock.monotonic() >= end) throw new Error(`nothing came of it within ${limit} ms`);
    clock.advance(50);
  }
}

/** Serves the emulator on a local TCP port, one connection at a time. */
export async function listen(
  emulator: Emulator,
): Promise<{ readonly port: number; readonly open: OpenLine; cut(): void; close(): Promise<void> }> {
  let current: Socket | undefined;
  const server = createServer({ noDelay: true }, (socket) => {
    current = socket;
    socket.setEncoding('latin1');
    // A killed client resets the connection.
    socket.on('error', () => {});
    socket.on('data', (text: string) => emulator.receive(text));
    emulator.print = (text) => socket.write(text, 'latin1');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  return {
    port,
    open: async (events) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      try {
        await once(socket, 'connect');
      } catch (cause) {
        throw new VigieError('input.unreadable', `cannot connect to port ${port}`, { cause });
      }
      let closing = false;
      socket.on('data', (bytes) => events.data(bytes));
      socket.on('error', () => {});
      socket.on('close', () => {
        if (!closing) events.closed('the connection ended');
      });
      return {
        write: (bytes) =>
          new Promise((resolve, reject) => {
            socket.write(bytes, (error) => {
              if (error == null) resolve();
              else reject(new VigieError('input.unreadable', 'the connection ended', { cause: error }));
            });
          }),
        close: async () => {
          closing = true;
          socket.destroy();
        },
      };
    },
    cut: () => current?.destroy(),
    close: async () => {
      current?.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
