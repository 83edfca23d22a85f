/** A broker with scripted answers, byte by byte. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Packets of MQTT 3.1.1. */
export const accept = Uint8Array.of(0x20, 2, 0, 0);

/**
 * A PUBLISH with these flags (clause 3.3.1), and packet identifier 7 if it has one, without its `size` bytes of
 * payload.
 */
export function publishHead(flags: number, topic: string, size: number): Uint8Array {
  const id = (flags & 0b110) === 0 ? [] : [0, 7];
  const body = [topic.length >> 8, topic.length & 0xff, ...Buffer.from(topic), ...id];
  const length = body.length + size;
  const digits = [length & 0x7f, (length >> 7) & 0x7f, (length >> 14) & 0x7f, length >> 21];
  const used = length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : 4;
  const coded = digits.slice(0, used).map((digit, i) => (i < used - 1 ? digit | 0x80 : digit));
  return Uint8Array.of(0x30 | flags, ...coded, ...body);
}

/** Called with each packet of the client. Returns the answer, or undefined for none. */
export type Answer = (packet: Buffer, socket: Socket) => Uint8Array | undefined;

/** Accepts every CONNECT of 3.1.1 and acknowledges every SUBSCRIBE and PUBLISH. */
export const obliging: Answer = (packet) => {
  const type = (packet[0] ?? 0) >> 4;
  if (type === 1) return accept;
  if (type === 8) return Uint8Array.of(0x90, 3, packet[2] ?? 0, packet[3] ?? 0, 1);
  if (type === 3) {
    const at = 4 + packet.readUInt16BE(2);
    return Uint8Array.of(0x40, 2, packet[at] ?? 0, packet[at + 1] ?? 0);
  }
  if (type === 12) return Uint8Array.of(0xd0, 0);
  return undefined;
};

export class ScriptedBroker {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(answer: Answer) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      let rest = Buffer.alloc(0);
      socket.on('data', (chunk) => {
        rest = Buffer.concat([rest, chunk]);
        // Clients of these tests send packets shorter than 128 bytes.
        while (rest.length >= 2 && rest.length >= 2 + (rest[1] ?? 0)) {
          const packet = rest.subarray(0, 2 + (rest[1] ?? 0));
          rest = rest.subarray(packet.length);
          const bytes = answer(packet, socket);
          if (bytes !== undefined && !socket.destroyed) socket.write(bytes);
        }
      });
      // The client may close the connection at any time.
      socket.on('error', () => socket.destroy());
    });
  }

  static async open(answer: Answer): Promise<ScriptedBroker> {
    const broker = new ScriptedBroker(answer);
    broker.#server.listen(0, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the scripted broker does not listen');
    return `mqtt://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
