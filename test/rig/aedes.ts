/** The embedded broker as a rig: MQTT 3.1.1 in this process, with its state in memory. */
import { EmbeddedBroker } from '../../adapters/mqtt/embedded-broker.ts';
import type { BrokerRig } from './broker.ts';

export class AedesRig implements BrokerRig {
  readonly #broker = new EmbeddedBroker();

  get url(): string {
    return this.#broker.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async start(): Promise<void> {
    await this.#broker.start();
  }

  stop(): Promise<void> {
    return this.#broker.stop();
  }

  kill(): Promise<void> {
    return this.#broker.stop();
  }

  remove(): Promise<void> {
    return this.#broker.stop();
  }
}
