/** Reads a broker's packets: passes to the library only whole, valid packets within the size limit, one at a time. */
import type { Socket } from 'node:net';
import { puback } from './bytes.ts';
import { type Oversize, PacketBound } from './packet-bound.ts';
import { malformation } from './packet-form.ts';
import { PacketSplitter } from './packet-splitter.ts';
import type { Version } from './protocol-choice.ts';

interface CheckedReadingOptions {
  readonly version: Version;
  /** Maximum size in bytes of a packet that is buffered. */
  readonly maximumPacket: number;
  /** Called for a larger packet; the library gets no more data. Must destroy the socket unless a PUBACK is needed. */
  readonly oversize: (packet: Oversize) => void;
  /** Called if a packet is malformed or made the library throw; the library gets no more data. */
  readonly failed: (error: Error) => void;
}

/**
 * Replaces the socket's own `pipe`, through which the library reads. Catches errors that a packet causes in the
 * library, and ensures that the library never takes the start of the next packet for a part of the current one.
 *
 * Does not buffer packets above the maximum size. Reads and drops the rest of such a packet, acknowledges it if it is a
 * PUBLISH with QoS 1 (a broker that keeps the session would send it again on every connection, and no other message
 * would ever arrive), and ends the connection.
 */
export function readChecked(socket: Socket, options: CheckedReadingOptions): void {
  const bound = new PacketBound(options.maximumPacket);
  const splitter = new PacketSplitter();
  const packets = new PacketQueue(options);
  socket.on('data', (chunk: Buffer) => {
    const oversize = bound.feed(chunk);
    const refused = oversize !== undefined && !packets.stopped;
    packets.add(packets.stopped ? [] : splitter.feed(chunk), refused);
    if (packets.waiting && !refused) socket.pause();
    if (oversize === undefined) return;
    if (refused) options.oversize(oversize);
    // Wait until the library has responded to the previous packets.
    if (oversize.complete) setImmediate(() => socket.end(puback(oversize.id ?? 0)));
  });
  socket.pipe = <T extends NodeJS.WritableStream>(library: T): T => {
    packets.begin(library, () => socket.resume());
    return library;
  };
}

/** Passes packets to the library, each when the previous one has been handled. */
class PacketQueue {
  readonly #options: CheckedReadingOptions;
  readonly #packets: Buffer[] = [];
  #library: NodeJS.WritableStream | undefined;
  #empty: () => void = () => undefined;
  #handing = false;
  #stopped = false;

  constructor(options: CheckedReadingOptions) {
    this.#options = options;
  }

  /** True if packets that are added from now on do not reach the library. */
  get stopped(): boolean {
    return this.#stopped;
  }

  get waiting(): boolean {
    return this.#packets.length > 0;
  }

  /** Starts passing packets. Calls `empty` each time the queue becomes empty. */
  begin(library: NodeJS.WritableStream, empty: () => void): void {
    this.#library = library;
    this.#empty = empty;
    this.#next();
  }

  /** Adds packets. If `last` is true, ignores packets that are added later. */
  add(packets: readonly Buffer[], last: boolean): void {
    if (!this.#stopped) {
      this.#packets.push(...packets);
      this.#next();
    }
    if (last) this.#stopped = true;
  }

  #next(): void {
    const library = this.#library;
    if (this.#handing || library === undefined) return;
    const packet = this.#packets.shift();
    if (packet === undefined) return;
    const fault = malformation(packet, this.#options.version);
    if (fault !== undefined) {
      this.#fail(new Error(`the broker sent a malformed packet (${fault})`));
      return;
    }
    this.#handing = true;
    try {
      library.write(packet, () => this.#handed());
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #handed(): void {
    this.#handing = false;
    if (this.#packets.length > 0) this.#next();
    else this.#empty();
  }

  #fail(error: Error): void {
    this.#stopped = true;
    this.#packets.length = 0;
    this.#options.failed(error);
  }
}
