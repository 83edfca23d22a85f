/** An MQTT client that is only a socket: reconnects indefinitely, receives messages and acknowledges them. */
import { connect, type Socket } from 'node:net';
import {
  acknowledgePacket,
  CONNACK,
  type ConnectOptions,
  connectPacket,
  PacketReader,
  PING,
  PUBACK,
  PUBLISH,
  publishedId,
  SUBACK,
  subscribePacket,
} from './packets.ts';

export interface ClientOptions extends Omit<ConnectOptions, 'keepAlive'> {
  readonly host: string;
  /** Ports of the broker's nodes. Each new connection uses the next one. */
  readonly ports: readonly number[];
  /** Index of the node for the first connection. */
  readonly node?: number;
  readonly filter: string;
}

/** Silence in s after which a broker closes a connection, and silence in ms after which a client sends a ping. */
const KEEP_ALIVE = 120;
const SPEAK_AFTER = 80_000;
/** Delay in ms before the next connection attempt. Half of it is random. */
const AGAIN = 2_000;
/** MQTT 5, 2.4: reason codes from here up are failures. In MQTT 3.1.1 any nonzero CONNACK code is a failure. */
const FAILURE = 0x80;

export class BareClient {
  /** If true, the client is subscribed and may publish. */
  ready = false;
  connections = 0;
  received = 0;
  sentBytes = 0;
  receivedBytes = 0;
  /** Description of how the broker refused the client. */
  refused: string | undefined;
  protected readonly options: ClientOptions;
  #socket: Socket | undefined;
  #node: number;
  #due = 0;
  #spoke = 0;

  constructor(options: ClientOptions) {
    this.options = options;
    this.#node = options.node ?? 0;
  }

  /** Performs the actions that are due. `now` is a time of performance.now(). */
  tick(now: number): void {
    if (this.#socket === undefined) {
      if (now >= this.#due) this.#connect(now);
    } else if (this.ready && now - this.#spoke > SPEAK_AFTER) this.write(PING, now);
  }

  end(): void {
    this.#due = Number.POSITIVE_INFINITY;
    this.#socket?.end(Uint8Array.of(0xe0, 0));
  }

  protected write(bytes: Uint8Array, now: number): void {
    this.#spoke = now;
    this.sentBytes += bytes.length;
    this.#socket?.write(bytes);
  }

  protected connected(_now: number): void {}

  protected acknowledged(_id: number, _now: number): void {}

  #connect(now: number): void {
    const { host, ports, version, filter } = this.options;
    const port = ports[this.#node++ % ports.length] ?? 0;
    const reader = new PacketReader();
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    socket.on('connect', () => this.write(connectPacket({ ...this.options, keepAlive: KEEP_ALIVE }), now));
    socket.on('data', (chunk) => {
      this.receivedBytes += chunk.length;
      const moment = performance.now();
      reader.read(chunk, (first, body) => {
        const kind = first >> 4;
        if (kind === PUBACK) {
          if ((body[2] ?? 0) >= FAILURE) this.refused = `PUBLISH, reason ${body[2]}`;
          this.acknowledged(body.readUInt16BE(0), moment);
        } else if (kind === PUBLISH) {
          this.received++;
          const id = publishedId(first, body);
          if (id !== undefined) this.write(acknowledgePacket(id), moment);
        } else if (kind === CONNACK) {
          if (body[1] === 0) this.write(subscribePacket(version, 65_535, filter), moment);
          else socket.destroy();
        } else if (kind === SUBACK) {
          if ((body.at(-1) ?? FAILURE) >= FAILURE) this.refused = `SUBSCRIBE, reason ${body.at(-1)}`;
          this.ready = true;
          this.connections++;
          this.connected(moment);
        }
      });
    });
    // The broker was killed or is refusing connections: the event `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.ready = false;
      this.#socket = undefined;
      this.#due = Math.max(this.#due, performance.now() + AGAIN * (0.5 + Math.random() / 2));
    });
  }
}
