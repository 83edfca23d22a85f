/** A publisher and a receiver at a broker that use QoS 1 and a persistent session, and nothing of Vigie. */
import { setTimeout as after } from 'node:timers/promises';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import type { Version } from '../../adapters/mqtt/protocol-choice.ts';

const TOPIC = 'plain/numbers';
const PERIOD_MS = 10;
const SESSION_SECONDS = 604_800;
const SILENCE_MS = 3_000;

export class PlainPair {
  readonly #url: string;
  readonly #version: Version;
  readonly #acknowledged = new Set<number>();
  readonly #received = new Map<number, number>();
  #next = 0;
  #publisher: MqttClient | undefined;
  #receiver: MqttClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heardAt = 0;

  constructor(url: string, version: Version) {
    this.#url = url;
    this.#version = version;
  }

  /** Number of messages that the broker has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Number of acknowledged messages that the receiver never got. */
  get lost(): number {
    return [...this.#acknowledged].filter((number) => !this.#received.has(number)).length;
  }

  /** Number of messages that the receiver got more than once. */
  get twice(): number {
    return [...this.#received.values()].filter((times) => times > 1).length;
  }

  async start(): Promise<void> {
    await this.attend();
    this.#publisher = await this.#connect('plain-publisher');
    this.#timer = setInterval(() => this.#publish(), PERIOD_MS);
  }

  /** The receiver goes; its session stays at the broker. */
  async leave(): Promise<void> {
    await this.#receiver?.endAsync();
    this.#receiver = undefined;
  }

  async attend(): Promise<void> {
    if (this.#receiver !== undefined) return;
    const receiver = await this.#connect('plain-receiver');
    this.#receiver = receiver;
    receiver.on('message', (_topic, payload) => {
      const number = Number(payload.toString());
      this.#received.set(number, (this.#received.get(number) ?? 0) + 1);
      this.#heardAt = performance.now();
    });
    await receiver.subscribeAsync(TOPIC, { qos: 1 });
  }

  /** Resolves when the broker has acknowledged this number of further messages. */
  async untilAcknowledged(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    while (this.acknowledged < wanted) await after(PERIOD_MS);
  }

  /** Publishes no more. Resolves when the receiver has got nothing for some seconds. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.attend();
    this.#heardAt = performance.now();
    while (performance.now() - this.#heardAt < SILENCE_MS) await after(100);
    await Promise.all([this.#publisher?.endAsync(true), this.leave()]);
  }

  #publish(): void {
    const publisher = this.#publisher;
    if (publisher?.connected !== true) return;
    const number = this.#next++;
    publisher.publish(TOPIC, String(number), { qos: 1 }, (error) => {
      if (!error) this.#acknowledged.add(number);
    });
  }

  async #connect(clientId: string): Promise<MqttClient> {
    const options: IClientOptions = { clientId, clean: false, protocolVersion: this.#version, reconnectPeriod: 200 };
    if (this.#version === 5) options.properties = { sessionExpiryInterval: SESSION_SECONDS };
    const client = await connectAsync(this.#url, options);
    // A connection error is followed by a further try.
    client.on('error', () => undefined);
    return client;
  }
}
