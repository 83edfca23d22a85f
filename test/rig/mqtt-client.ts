/** An MQTT 3.1.1 client that can send anything, and reports the outcome. */
import { connectAsync, type IClientOptions, type MqttClient as LibraryClient } from 'mqtt';

export class MqttClient {
  readonly #client: LibraryClient;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;

  private constructor(client: LibraryClient) {
    this.#client = client;
    // A connection error is followed by `close`.
    client.on('error', () => undefined);
    this.closed = new Promise((resolve) => client.once('close', () => resolve()));
  }

  /** Rejects if the broker refuses the connection. */
  static async connect(url: string, options: IClientOptions): Promise<MqttClient> {
    return new MqttClient(await connectAsync(url, { ...options, protocolVersion: 4, reconnectPeriod: 0 }, false));
  }

  publish(topic: string, payload: Uint8Array): Promise<'acknowledged' | 'ended'> {
    const acknowledged = this.#client
      .publishAsync(topic, Buffer.from(payload), { qos: 1 })
      .then(() => 'acknowledged' as const)
      .catch(() => 'ended' as const);
    return Promise.race([acknowledged, this.closed.then(() => 'ended' as const)]);
  }

  async subscribe(filter: string): Promise<'granted' | 'refused'> {
    try {
      const [grant] = await this.#client.subscribeAsync(filter, { qos: 1 });
      return grant === undefined || grant.qos >= 128 ? 'refused' : 'granted';
    } catch {
      return 'refused';
    }
  }

  async end(): Promise<void> {
    await this.#client.endAsync(true);
  }
}
