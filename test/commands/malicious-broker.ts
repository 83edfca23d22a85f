/** A broker that sends arbitrary messages: a part of MQTT 3.1.1 over TCP, for one car. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Cloud } from './remote-car.ts';

type Receive = (topic: string, payload: Uint8Array) => void;

const CONNECT = 1;
const PUBLISH = 3;
const PUBACK = 4;
const SUBSCRIBE = 8;
const PINGREQ = 12;

export class MaliciousBroker implements Cloud {
  readonly #server: Server;
  readonly #receivers = new Set<Receive>();
  #socket: Socket | undefined;
  #id = 0;
  /** Called when a car has subscribed. */
  #arrived: (() => void)[] = [];
  /** By packet identifier: called with whether the message was acknowledged or lost with its connection. */
  readonly #waiting = new Map<number, (acknowledged: boolean) => void>();
  /** Number of connections that the car has made. */
  connections = 0;

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  static async open(): Promise<MaliciousBroker> {
    const broker = new MaliciousBroker();
    broker.#server.listen(0, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the broker does not listen');
    return `mqtt://127.0.0.1:${address.port}`;
  }

  /** `filter` ends with a wildcard. */
  async subscribe(filter: string, receive: Receive): Promise<void> {
    const begin = filter.slice(0, -1);
    this.#receivers.add((topic, payload) => {
      if (topic.startsWith(begin)) receive(topic, payload);
    });
  }

  /** Sends a message to the car, again after a lost connection. Resolves when the car has acknowledged it. */
  async publish(topic: string, payload: Uint8Array): Promise<void> {
    let acknowledged = false;
    while (!acknowledged) {
      const id = await this.hand(topic, payload, 1);
      if (this.#socket === undefined) continue;
      acknowledged = await new Promise<boolean>((resolve) => this.#waiting.set(id, resolve));
    }
  }

  /** Writes a message once a car is connected and can receive. Returns its packet identifier. */
  async hand(topic: string, payload: Uint8Array, qos: 0 | 1): Promise<number> {
    const socket = await this.#present();
    this.#id = (this.#id % 0xffff) + 1;
    const id = this.#id;
    const name = Buffer.from(topic);
    const head = Buffer.alloc(2 + name.length + 2 * qos);
    head.writeUInt16BE(name.length);
    name.copy(head, 2);
    if (qos === 1) head.writeUInt16BE(id, 2 + name.length);
    const packet = Buffer.concat([header(0x30 | (qos << 1), head.length + payload.length), head, payload]);
    if (!socket.write(packet) && !socket.destroyed) await first(socket, 'drain', 'close');
    return id;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#socket?.destroy();
    await closed;
  }

  async #present(): Promise<Socket> {
    while (this.#socket === undefined || this.#socket.destroyed) {
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
    }
    return this.#socket;
  }

  #serve(socket: Socket): void {
    this.connections++;
    let rest: Buffer = Buffer.alloc(0);
    // The car may close the connection at any time.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      for (const tell of this.#waiting.values()) tell(false);
      this.#waiting.clear();
    });
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let packet = whole(rest); packet !== undefined; packet = whole(rest)) {
        rest = rest.subarray(packet.end);
        this.#answer(socket, packet.type, packet.body);
      }
    });
  }

  #answer(socket: Socket, type: number, body: Buffer): void {
    if (type === CONNECT) socket.write(Uint8Array.of(0x20, 2, 0, 0));
    else if (type === SUBSCRIBE) {
      socket.write(Uint8Array.of(0x90, 3, body[0] ?? 0, body[1] ?? 0, 1));
      this.#socket = socket;
      for (const resolve of this.#arrived.splice(0)) resolve();
    } else if (type === PINGREQ) socket.write(Uint8Array.of(0xd0, 0));
    else if (type === PUBACK) {
      const id = body.readUInt16BE(0);
      this.#waiting.get(id)?.(true);
      this.#waiting.delete(id);
    } else if (type === PUBLISH) {
      const length = body.readUInt16BE(0);
      const topic = body.toString('utf8', 2, 2 + length);
      socket.write(Buffer.concat([Uint8Array.of(0x40, 2), body.subarray(2 + length, 4 + length)]));
      for (const receive of this.#receivers) receive(topic, Uint8Array.from(body.subarray(4 + length)));
    }
  }
}

/** Resolves with the first of these events. A socket error is not one of them: it is followed by `close`. */
function first(socket: Socket, ...events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) socket.off(event, done);
      resolve();
    };
    for (const event of events) socket.on(event, done);
  });
}

/** Fixed header (clause 2.2). */
function header(first: number, remaining: number): Uint8Array {
  const digits: number[] = [];
  let rest = remaining;
  do {
    digits.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Uint8Array.of(first, ...digits);
}

/** The first packet, once it is complete. */
function whole(bytes: Buffer): { type: number; body: Buffer; end: number } | undefined {
  let remaining = 0;
  for (let at = 1; at < Math.min(5, bytes.length); at++) {
    const digit = bytes[at] as number;
    remaining += (digit & 0x7f) << (7 * (at - 1));
    if (digit >= 0x80) continue;
    const end = at + 1 + remaining;
    if (bytes.length < end) return undefined;
    return { type: (bytes[0] as number) >> 4, body: bytes.subarray(at + 1, end), end };
  }
  return undefined;
}
