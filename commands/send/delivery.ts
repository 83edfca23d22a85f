/** Delivery of a command: signs it, sends it, and follows it to its last state. */

import type { CommandSigner } from '../../adapters/keys/index.ts';
import type { CloudClient } from '../../adapters/mqtt/index.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import { commandTopic } from '../../protocol/command-topic.ts';
import { defined } from '../../protocol/defined.ts';
import { finalStatuses, type RemoteReport } from '../../protocol/schema/remote.ts';
import { upTopic } from '../../protocol/topics.ts';
import { readMessage } from './received.ts';
import type { SendRequest } from './request.ts';

interface DeliveryOptions {
  readonly vin: string;
  readonly client: CloudClient;
  readonly signer: CommandSigner;
  /** Validity in s. After it, the car refuses to execute the command. */
  readonly valid: number;
  /** Additional time in s to wait for the last state. */
  readonly wait: number;
  /** True to resend an unanswered command. An offline car receives the first copy when it connects. */
  readonly repeats: boolean;
  /** Called once for each state. */
  readonly report: (report: RemoteReport) => void;
}

/** Progress of a command: its last state, and the number of received states. */
interface Outcome {
  readonly report?: RemoteReport;
  readonly states: number;
}

interface Pending {
  readonly seen: Set<string>;
  readonly end: (report: RemoteReport) => void;
}

/**
 * Time in ms between two sendings, and their maximum, until the car answers. Under a flood of commands, a car verifies
 * repeated ones first.
 */
const REPEAT_INTERVAL_MS = 1_000;
const MAX_SENDINGS = 10;

/** Sends commands to one car and receives their states. */
export class Deliveries {
  readonly #options: DeliveryOptions;
  readonly #pending = new Map<string, Pending>();

  private constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Subscribes to the states. Call before sending a command. Rejects with `link.refused` or `link.lost`. */
  static async open(options: DeliveryOptions): Promise<Deliveries> {
    const deliveries = new Deliveries(options);
    await options.client.subscribe(upTopic(options.vin, 'remote'), (_topic, payload) => deliveries.#heard(payload));
    return deliveries;
  }

  /** Signs and sends a command. Resolves with the last state, or without one if it did not arrive in time. */
  async send({ kind, body }: SendRequest): Promise<Outcome> {
    const { vin, client, signer, valid, wait, repeats } = this.#options;
    const id = crypto.randomUUID();
    const seen = new Set<string>();
    let end: (report: RemoteReport | undefined) => void = () => undefined;
    const ended = new Promise<RemoteReport | undefined>((resolve) => {
      end = resolve;
    });
    this.#pending.set(id, { seen, end });
    const issued = Date.now();
    const command = { id, vin, kind, body: encodeBody(kind, body), issued, expires: issued + valid * 1000 };
    const payload = await signer.sign((counter) => encodeCommand({ ...command, counter }));
    const publish = (): Promise<void> =>
      client.publish(commandTopic(vin, kind), payload, {
        expiry: valid,
        responseTopic: upTopic(vin, 'remote'),
        correlation: new TextEncoder().encode(id),
      });
    await publish();
    const stopRepeating = repeats ? repeat(publish, () => seen.size > 0) : undefined;
    // The car may take longer than the validity of the command to execute it, up to its own limit.
    const timer = setTimeout(() => end(undefined), (valid + wait) * 1000);
    const report = await ended;
    clearTimeout(timer);
    stopRepeating?.();
    this.#pending.delete(id);
    return { states: seen.size, ...defined({ report }) };
  }

  #heard(payload: Uint8Array): void {
    const message = readMessage(payload);
    if (message?.kind !== 'remote') return;
    const report = message.body;
    const pending = this.#pending.get(report.remoteActionId);
    if (pending === undefined || pending.seen.has(report.status)) return;
    pending.seen.add(report.status);
    this.#options.report(report);
    if (finalStatuses.has(report.status)) pending.end(report);
  }
}

/** Publishes again until `answered`, at most {@link MAX_SENDINGS} times. Returns a function that stops this. */
function repeat(publish: () => Promise<void>, answered: () => boolean): () => void {
  let sent = 1;
  const stop = (): void => clearInterval(again);
  const again = setInterval(() => {
    if (answered() || ++sent > MAX_SENDINGS) stop();
    // The first publication has succeeded: a later failure only ends the repetition.
    else publish().catch(stop);
  }, REPEAT_INTERVAL_MS);
  return stop;
}
