/** Messages on the topics of a broker, as a program receives them. */
import type { MqttClient } from 'mqtt';

/** Keeps the last message of each topic, and waits for messages. */
export class Topics {
  readonly last = new Map<string, string>();
  readonly #waits = new Set<() => void>();

  constructor(client: MqttClient) {
    client.on('message', (topic, payload) => {
      this.last.set(topic, payload.toString());
      for (const check of [...this.#waits]) check();
    });
  }

  /** Resolves with the text of the topic when it satisfies `holds`. */
  async until(topic: string, holds: (text: string) => boolean = () => true): Promise<string> {
    for (;;) {
      const text = this.last.get(topic);
      if (text !== undefined && holds(text)) return text;
      await new Promise<void>((resolve) => {
        const check = (): void => {
          this.#waits.delete(check);
          resolve();
        };
        this.#waits.add(check);
      });
    }
  }
}
