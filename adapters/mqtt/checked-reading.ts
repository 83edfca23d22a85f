/** Reads the packets of a broker: the library gets whole ones, of allowed size and form, one at a time, and nothing else. */
import type { Socket } from 'node:net';
import { puback } from './bytes.ts';
import { type Oversize, PacketBound } from './packet-bound.ts';
import { malformation } from './packet-form.ts';
import { PacketSplitter } from './packet-splitter.ts';
import type { Version } from './protocol-choice.ts';

interface CheckedReadingOptions {
  readonly version: Version;
  /** Bytes of the largest packet that is gathered. */
  readonly maximumPacket: number;
  /** A larger packet comes; the library gets nothing more. It is destroyed unless the packet must be acknowledged. */
  readonly oversize: (packet: Oversize) => void;
  /** A packet is malformed, or the library failed on one; the library gets nothing more. */
  readonly failed: (error: Error) => void;
}

/**
 * Takes the place of the socket's own `pipe`, by which the library reads. So a fault that a packet causes in the library is
 * caught here, and the library never takes the beginning of the next packet for a part of the present one.
 *
 * Lets no packet above the maximum gather. The rest of such a packet is read and dropped, a PUBLISH with QoS 1 is
 * acknowledged (a broker that keeps the session would send it again on every connection, and nothing else would ever
 * arrive), and the connection ends.
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
    // After the library has answered the packets before it.
    if (oversize.complete) setImmediate(() => socket.end(puback(oversize.id ?? 0)));
  });
  socket.pipe = <T extends NodeJS.WritableStream>(library: T): T => {
    packets.begin(library, () => socket.resume());
    return library;
  };
}

/** Hands packets to the library, each when the one before is handled. */
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

  /** The library gets none of the packets that are added from now on. */
  get stopped(): boolean {
    return this.#stopped;
  }

  get waiting(): boolean {
    return this.#packets.length > 0;
  }

  /** `empty` is called when no packet waits any more. */
  begin(library: NodeJS.WritableStream, empty: () => void): void {
    this.#library = library;
    this.#empty = empty;
    this.#next();
  }

  /** `last`: nothing may follow these. */
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
