/** Checks the sizes of packets in a byte stream before any bytes are buffered for them. */

/** Control packet type and flags (MQTT 5 clauses 2.1.2 and 3.3.1). */
const PUBLISH = 3;
const QOS = 0b110;
const QOS_1 = 0b010;

/** Returns the size of a whole packet with this remaining length: type and flags, the length bytes, and the rest. */
export function packetBytes(remaining: number): number {
  return 1 + (remaining < 0x80 ? 1 : remaining < 0x4000 ? 2 : remaining < 0x20_0000 ? 3 : 4) + remaining;
}

/** A packet that is larger than allowed. */
export interface Oversize {
  /** Size of the whole packet in bytes, according to its fixed header; Infinity if the header is malformed. */
  readonly bytes: number;
  /** True for a PUBLISH with QoS 1, which the broker sends again until it is acknowledged. */
  readonly acknowledged: boolean;
  /** Packet identifier of such a PUBLISH; undefined until it has been received. */
  readonly id: number | undefined;
  /** True once the last byte of the packet has been fed. */
  readonly complete: boolean;
}

/**
 * Follows the fixed headers of MQTT packets (3.1.1 and 5, clause 2.1: type and flags, then the remaining length in 1 to
 * 4 bytes of 7 bits, lowest first) and skips all other bytes, however the stream is divided into chunks.
 *
 *     | type:4 flags:4 | 1 lllllll | ... | 0 lllllll | topic length:16 | topic | packet id:16 | ...
 *
 * A packet whose body begins and ends in one chunk passes: it is already in memory, so that limiting it has no use. The
 * first other packet that is too large is followed to its end; after that, no more bytes are accepted.
 */
export class PacketBound {
  readonly #maximum: number;
  #first = 0;
  #headerBytes = 0;
  /** True while the last byte of the remaining length has not been received. */
  #lengthOpen = false;
  #remaining = 0;
  /** Number of received bytes of the current packet's body. */
  #seen = 0;
  #topicLength = 0;
  #id = 0;
  #over = false;
  /** True if the current packet's body begins in the current chunk. */
  #begunHere = false;
  #malformed = false;

  /** @param maximum in bytes, including the fixed header, as in Maximum Packet Size (MQTT 5 clause 3.1.2.11.4) */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** The packet that exceeds the maximum, or undefined if there is none. */
  get oversize(): Oversize | undefined {
    if (!this.#over) return undefined;
    const bytes = this.#malformed ? Number.POSITIVE_INFINITY : this.#headerBytes + this.#remaining;
    const acknowledged = this.#first >> 4 === PUBLISH && (this.#first & QOS) === QOS_1 && !this.#malformed;
    const id = acknowledged && this.#seen >= 4 + this.#topicLength ? this.#id : undefined;
    return { bytes, acknowledged, id, complete: this.#complete() };
  }

  /** Processes the next bytes of the stream. Returns {@link oversize}. */
  feed(chunk: Uint8Array): Oversize | undefined {
    let at = 0;
    this.#begunHere = false;
    while (at < chunk.length && !this.#malformed) {
      if (this.#over && this.#complete()) {
        if (!this.#begunHere) break;
        this.#over = false;
        this.#headerBytes = 0;
      }
      at = this.#inHeader() ? this.#header(chunk, at) : this.#body(chunk, at);
    }
    if (this.#over && this.#begunHere && this.#complete()) {
      this.#over = false;
      this.#headerBytes = 0;
    }
    return this.oversize;
  }

  #inHeader(): boolean {
    return this.#headerBytes === 0 || this.#lengthOpen;
  }

  #header(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0;
    if (this.#headerBytes === 0) {
      this.#first = byte;
      this.#remaining = 0;
      this.#lengthOpen = true;
    } else {
      this.#remaining += (byte & 0x7f) * 128 ** (this.#headerBytes - 1);
      this.#lengthOpen = byte >= 0x80;
    }
    this.#headerBytes++;
    if (this.#lengthOpen && this.#headerBytes === 5) {
      this.#malformed = true;
      this.#over = true;
    }
    if (!this.#lengthOpen) this.#begin();
    return at + 1;
  }

  #begin(): void {
    this.#begunHere = true;
    this.#seen = 0;
    this.#topicLength = 0;
    this.#id = 0;
    if (this.#headerBytes + this.#remaining > this.#maximum) this.#over = true;
    else if (this.#remaining === 0) this.#headerBytes = 0;
  }

  #body(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + this.#remaining - this.#seen);
    if (this.#over) this.#identify(chunk, at, end);
    this.#seen += end - at;
    if (!this.#over && this.#seen === this.#remaining) this.#headerBytes = 0;
    return end;
  }

  /** Reads the packet identifier, which follows the topic. */
  #identify(chunk: Uint8Array, at: number, end: number): void {
    for (let i = at, place = this.#seen; i < end; i++, place++) {
      const byte = chunk[i] ?? 0;
      if (place < 2) this.#topicLength = (this.#topicLength << 8) | byte;
      else if (place >= 4 + this.#topicLength) return;
      else if (place >= 2 + this.#topicLength) this.#id = (this.#id << 8) | byte;
    }
  }

  #complete(): boolean {
    return !this.#malformed && this.#seen === this.#remaining;
  }
}
