/** Size in bytes of the longest fixed header: type and flags, and a length of four bytes (MQTT 5 clause 2.1.4). */
const MAX_HEADER_BYTES = 5;

/** Splits a stream into whole packets, however it is divided into chunks. Buffers at most one incomplete packet. */
export class PacketSplitter {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #announced: number | undefined;

  /** Size of the incomplete packet in bytes, according to its header; Infinity if its header is malformed. */
  get announced(): number | undefined {
    return this.#announced;
  }

  /** The first byte of the incomplete packet. */
  get first(): number | undefined {
    return this.#held[0]?.[0];
  }

  /** Adds the next bytes of the stream. Returns the packets that are now complete; they share the bytes' memory. */
  feed(chunk: Buffer): readonly Buffer[] {
    if (chunk.length === 0) return [];
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#announced !== undefined && this.#announced > this.#heldBytes) return [];
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    const packets: Buffer[] = [];
    let at = 0;
    for (;;) {
      this.#announced = at < bytes.length ? packetBytesAt(bytes, at) : undefined;
      if (this.#announced === undefined || at + this.#announced > bytes.length) break;
      packets.push(bytes.subarray(at, at + this.#announced));
      at += this.#announced;
    }
    this.#held = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#heldBytes = bytes.length - at;
    return packets;
  }
}

/** Returns the size in bytes of the packet that begins at `at`, or undefined if its header is incomplete. */
function packetBytesAt(bytes: Uint8Array, at: number): number | undefined {
  let remaining = 0;
  for (let i = 1; i < MAX_HEADER_BYTES; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return undefined;
    remaining += (byte & 0x7f) * 0x80 ** (i - 1);
    if (byte < 0x80) return 1 + i + remaining;
  }
  return Number.POSITIVE_INFINITY;
}
