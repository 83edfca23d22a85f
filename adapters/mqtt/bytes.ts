import type { Writable } from 'node:stream';

/** The same bytes as the Buffer that Node's own interfaces ask for; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** PUBACK with success, the same bytes in 3.1.1 and 5 (clause 3.4). */
export function puback(id: number): Uint8Array {
  return Uint8Array.of(0x40, 2, id >> 8, id & 0xff);
}

/** Acknowledgements that become due together go out together. */
export function acknowledge(stream: Writable, id: number): void {
  stream.cork();
  stream.write(puback(id));
  process.nextTick(() => stream.uncork());
}
