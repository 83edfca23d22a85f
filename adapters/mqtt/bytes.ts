import type { Writable } from 'node:stream';

/** Returns a Buffer that shares the bytes, for Node interfaces that need one. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns a PUBACK with success, which has the same bytes in 3.1.1 and 5 (clause 3.4). */
export function puback(id: number): Uint8Array {
  return Uint8Array.of(0x40, 2, id >> 8, id & 0xff);
}

/** Sends an acknowledgement; acknowledgements that become due together are sent together. */
export function acknowledge(stream: Writable, id: number): void {
  stream.cork();
  stream.write(puback(id));
  process.nextTick(() => stream.uncork());
}
