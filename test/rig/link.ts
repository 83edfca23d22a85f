import type { Link, OutgoingMessage } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';

/** A link controlled by the test: messages wait until it acknowledges, loses or refuses them. */
export class WireLink implements Link {
  connected = false;
  /** All published messages, in order, whatever their outcome. */
  readonly published: OutgoingMessage[] = [];
  #open: { message: OutgoingMessage; resolve: () => void; reject: (error: Error) => void }[] = [];

  publish(message: OutgoingMessage): Promise<void> {
    this.published.push(message);
    return new Promise((resolve, reject) => this.#open.push({ message, resolve, reject }));
  }

  get inFlight(): number {
    return this.#open.length;
  }

  /** The broker acknowledges the oldest `count` messages. */
  acknowledge(count = this.#open.length): void {
    for (const { resolve } of this.#open.splice(0, count)) resolve();
  }

  /** The connection ends, and messages in flight are lost. */
  lose(): void {
    this.connected = false;
    for (const { reject } of this.#open.splice(0)) reject(new VigieError('link.lost', 'the test cut the wire'));
  }

  /** The broker refuses the oldest message permanently. */
  refuse(error = new VigieError('message.malformed', 'refused by the test')): void {
    this.#open.shift()?.reject(error);
  }
}
