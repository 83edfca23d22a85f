/**
 * The MQTT packets that a car and a receiver need, encoded and decoded without a library, so that a car costs only a
 * socket.
 */
import type { Version } from '../../adapters/mqtt/protocol-choice.ts';

/** Identifiers of properties (MQTT 5, 2.2.2.2 and 3.3.2.3.3). */
const SESSION_EXPIRY = 0x11;
const MESSAGE_EXPIRY = 0x02;

export const CONNACK = 2;
export const PUBLISH = 3;
export const PUBACK = 4;
export const SUBACK = 9;
export const PING: Uint8Array = Uint8Array.of(0xc0, 0);

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number16(bytes.length), bytes]);
}

function number16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function packet(first: number, ...parts: readonly Uint8Array[]): Buffer {
  let length = parts.reduce((sum, part) => sum + part.length, 0);
  const header = [first];
  do {
    header.push((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
    length >>= 7;
  } while (length > 0);
  return Buffer.concat([Buffer.from(header), ...parts]);
}

export interface ConnectOptions {
  readonly version: Version;
  readonly clientId: string;
  /** Keep-alive interval in s. */
  readonly keepAlive: number;
  /** Topic of the will. If the connection is lost, the broker publishes `offline` there as a retained message. */
  readonly will?: string;
}

/** Encodes a CONNECT with a session expiry of one hour. */
export function connectPacket({ version, clientId, keepAlive, will }: ConnectOptions): Buffer {
  const none = version === 5 ? [Buffer.of(0)] : [];
  const session = version === 5 ? [Buffer.of(5, SESSION_EXPIRY), number32(3600)] : [];
  return packet(
    0x10,
    text('MQTT'),
    Buffer.of(version, will === undefined ? 0 : 0x2c),
    number16(keepAlive),
    ...session,
    text(clientId),
    ...(will === undefined ? [] : [...none, text(will), text('offline')]),
  );
}

export function subscribePacket(version: Version, id: number, filter: string): Buffer {
  return packet(0x82, number16(id), ...(version === 5 ? [Buffer.of(0)] : []), text(filter), Buffer.of(1));
}

export interface PublishFields {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly id: number;
  readonly retain: boolean;
  readonly repeated: boolean;
  /** Message expiry in s (MQTT 5). */
  readonly expiry: number;
}

/** Encodes a PUBLISH with QoS 1. */
export function publishPacket(
  version: Version,
  { topic, payload, id, retain, repeated, expiry }: PublishFields,
): Buffer {
  const first = 0x32 | (repeated ? 8 : 0) | (retain ? 1 : 0);
  const properties = version === 5 ? [Buffer.of(5, MESSAGE_EXPIRY), number32(expiry)] : [];
  return packet(first, text(topic), number16(id), ...properties, payload);
}

export function acknowledgePacket(id: number): Buffer {
  return packet(0x40, number16(id));
}

/** Returns the packet identifier in a PUBLISH with QoS 1; undefined for QoS 0. */
export function publishedId(first: number, body: Uint8Array): number | undefined {
  if ((first & 6) === 0) return undefined;
  const at = 2 + (((body[0] ?? 0) << 8) | (body[1] ?? 0));
  return ((body[at] ?? 0) << 8) | (body[at + 1] ?? 0);
}

/** Splits the byte stream of a connection into packets. */
export class PacketReader {
  #rest: Buffer | undefined;

  /** Calls `take` with the first byte and the body of each complete packet. */
  read(chunk: Buffer, take: (first: number, body: Buffer) => void): void {
    let bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      let length = 0;
      let at = 1;
      for (let shift = 0; ; shift += 7) {
        const next = bytes[at++];
        if (next === undefined) {
          this.#rest = bytes.length === 0 ? undefined : Buffer.from(bytes);
          return;
        }
        length |= (next & 0x7f) << shift;
        if (next < 0x80) break;
      }
      if (bytes.length < at + length) {
        this.#rest = Buffer.from(bytes);
        return;
      }
      take(bytes[0] ?? 0, bytes.subarray(at, at + length));
      bytes = bytes.subarray(at + length);
    }
  }
}
