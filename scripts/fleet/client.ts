/** A client of MQTT that is a bare socket: connects again for ever, takes what comes and acknowledges it. */
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
  /** Addresses of the broker's nodes: each connection uses the next one. */
  readonly ports: readonly number[];
  /** The node of the first connection. */
  readonly node?: number;
  readonly filter: string;
}

/** Seconds before a broker ends a silent connection, and ms before a client sends a ping. */
const KEEP_ALIVE = 120;
const SPEAK_AFTER = 80_000;
/** Wait before the next attempt to connect, ms, half of it at random. */
const AGAIN = 2_000;
/** MQTT 5, 2.4: reason codes from here on are failures; of MQTT 3.1.1 a return code of CONNACK is one. */
const FAILURE = 0x80;

export class BareClient {
  /** Subscribed: it may publish. */
  ready = false;
  connections = 0;
  received = 0;
  sentBytes = 0;
  receivedBytes = 0;
  /** Refusal of the broker, in words. */
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

  /** Does what is due; `now` as of performance.now(). */
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
    // The broker was killed, or refuses for now: `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.ready = false;
      this.#socket = undefined;
      this.#due = Math.max(this.#due, performance.now() + AGAIN * (0.5 + Math.random() / 2));
    });
  }
}
