/** Publishes the current values of a car on plain MQTT topics, and accepts commands there. */

import type { ObservedStatus, StatusObserver } from '../../agent/model/status.ts';
import type { Clock, Link, LinkEvents, Log } from '../../agent/ports.ts';
import type { PresentSignal, SignalView } from '../../agent/signals/view.ts';
import { defined } from '../../protocol/defined.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';
import { type Slot, slots } from '../../protocol/slots.ts';
import { combinedTexts } from './combined.ts';
import type { CommandTopics } from './commands.ts';
import type { ForwarderReport } from './forwarder.ts';
import { signalText, type TopicForm, valueText } from './values.ts';

export interface ExitTopics {
  /** Start of all topics, without a final slash. */
  readonly prefix: string;
  readonly form: TopicForm;
  /** True if the broker retains the last value of each topic for programs that connect later. */
  readonly retain: boolean;
  /** Minimum time in ms between two messages on one topic. */
  readonly interval: number;
}

/** Status as an exit reads it. */
export type ExitStatus = Pick<ObservedStatus, 'value' | 'changedAt' | 'fresh'>;

export interface ExitOptions {
  readonly vin: string;
  readonly topics: ExitTopics;
  readonly status: ExitStatus;
  /** Returns true if the exit may publish the value. */
  readonly sees: (slot: Slot) => boolean;
  /** Custom signals of the car. If omitted, the car has no custom signals. */
  readonly signals?: Pick<SignalView, 'all' | 'get'> | undefined;
  readonly seesSignal?: (signal: PresentSignal) => boolean;
  readonly commands: CommandTopics;
  /** Returns messages that describe these values to receivers, for example discovery messages. */
  readonly describe?: (known: ReadonlySet<Slot>) => readonly ExitMessage[];
  /** Values that the profile feeds, which are described even before their first reading. */
  readonly fed: Iterable<Slot>;
  readonly link: Pick<Link, 'connected' | 'publish'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ExitMessage {
  readonly topic: string;
  /** If empty, the broker deletes the retained message. */
  readonly text: string;
  readonly retain: boolean;
}

/** The rest of a longer message is ignored: no command has more bytes. */
const MAX_COMMAND_BYTES = 64;

/** Maximum number of waiting messages that are not values; the oldest are dropped, since newer ones follow. */
const MAX_TOLD = 50;

/** Returns the topic for a path of Status, for example `vigie/plain/VIN/kinetic/speed`. */
export function topicOfPath(prefix: string, vin: string, path: string): string {
  return `${prefix}/${vin}/${path.replaceAll('.', '/')}`;
}

/** Returns the topic of commands with this verb. With `#` as the verb, it is the filter for all commands. */
export function commandTopic(prefix: string, vin: string, verb: string): string {
  return `${prefix}/${vin}/set/${verb}`;
}

/**
 * Sends the newest value of each changed path, at most once per interval. While the receiver is disconnected or slow,
 * only remembers which paths have changed, so it needs no more memory. After each connection it sends all values again.
 */
export class CarExit implements StatusObserver, LinkEvents {
  readonly #options: ExitOptions;
  /** Changed values of Status, and names of changed custom signals. */
  readonly #changed = new Set<Slot | string>();
  readonly #known: Set<Slot>;
  /** Messages that are not values and wait to be sent. */
  #told: ExitMessage[] = [];
  /** True if the descriptions must be sent again. */
  #undescribed = true;
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #sending = false;
  #refused = 0;
  #lost = 0;
  #error: string | undefined;
  #succeededAt: number | undefined;

  constructor(options: ExitOptions) {
    const { fed, sees } = options;
    this.#options = options;
    this.#known = new Set([...fed].filter(sees));
  }

  up(): void {
    const { status, sees, signals, clock } = this.#options;
    for (const slot of slots) if (status.value(slot) !== undefined && sees(slot)) this.#changed.add(slot);
    for (const { definition } of signals?.all(clock.now()) ?? []) this.#changed.add(definition.name);
    this.#undescribed = true;
    this.#plan();
  }

  down(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  message(topic: string, payload: Uint8Array, _correlation?: Uint8Array, retained = false): void {
    const { topics, vin, commands } = this.#options;
    const verb = topic.slice(commandTopic(topics.prefix, vin, '').length);
    const text = new TextDecoder().decode(payload.subarray(0, MAX_COMMAND_BYTES));
    commands.take(verb, text, retained);
  }

  changed(slot: Slot): void {
    this.#note(slot);
  }

  removed(slot: Slot): void {
    this.#note(slot);
  }

  /** Call when the custom signal changes. */
  signalChanged(name: string): void {
    this.#changed.add(name);
    this.#plan();
  }

  stale(slot: Slot): void {
    if (this.#options.topics.form === 'json') this.#note(slot);
  }

  /** Publishes a message that is not a value, such as the outcome of a command: soon, or once connected. */
  tell(message: ExitMessage): void {
    this.#told.push(message);
    this.#dropOldest();
    this.#plan();
  }

  /** Call when the descriptions have changed. */
  describeAgain(): void {
    this.#undescribed = true;
    this.#plan();
  }

  /** State of the values: the number of those that wait, and the last failure. */
  get report(): Omit<ForwarderReport, 'name'> {
    const waiting = this.#changed.size + this.#told.length;
    const [error, succeededAt] = [this.#error, this.#succeededAt];
    return { waiting, lost: this.#lost, refused: 0, ...defined({ error, succeededAt }) };
  }

  /** Resolves when the broker has confirmed a message on the topic `test`. */
  async test(): Promise<void> {
    const { topics, vin, clock } = this.#options;
    await this.#publish([{ topic: `${topics.prefix}/${vin}/test`, text: dateTime(clock.now()), retain: false }]);
  }

  /** Sends everything that waits, without waiting for the broker, and stops. */
  close(): void {
    this.down();
    if (this.#options.link.connected) {
      this.#publish([...this.#messagesOf(this.#changed), ...this.#told]).catch(() => undefined);
    }
    this.#changed.clear();
    this.#told = [];
    this.#undescribed = false;
  }

  #note(slot: Slot): void {
    if (!this.#options.sees(slot)) return;
    this.#changed.add(slot);
    this.#plan();
  }

  #plan(): void {
    const { link, clock, topics } = this.#options;
    if (this.#cancel !== undefined || this.#sending || !link.connected) return;
    if (this.#changed.size === 0 && this.#told.length === 0 && !this.#undescribed) return;
    const wait = Math.max(0, this.#sentAt + topics.interval - clock.monotonic());
    this.#cancel = clock.after(wait, () => {
      this.#cancel = undefined;
      void this.#send();
    });
  }

  /** Sends all changes. The next round starts after the broker has acknowledged this one. */
  async #send(): Promise<void> {
    this.#sending = true;
    this.#sentAt = this.#options.clock.monotonic();
    const changed = [...this.#changed];
    const told = this.#told;
    this.#changed.clear();
    this.#told = [];
    try {
      await this.#publish(this.#described(changed));
      await this.#publish(this.#messagesOf(changed));
      await this.#publish(told);
      this.#refused = 0;
      this.#error = undefined;
    } catch (error) {
      for (const one of changed) this.#changed.add(one);
      this.#told = [...told, ...this.#told];
      this.#dropOldest();
      this.#undescribed = true;
      this.#failed(error, `${this.#options.topics.prefix}/${this.#options.vin}`);
    } finally {
      this.#sending = false;
      this.#plan();
    }
  }

  #described(changed: Iterable<Slot | string>): readonly ExitMessage[] {
    for (const slot of changed) {
      if (typeof slot === 'string' || this.#known.has(slot)) continue;
      this.#known.add(slot);
      this.#undescribed = true;
    }
    if (!this.#undescribed) return [];
    this.#undescribed = false;
    return this.#options.describe?.(this.#known) ?? [];
  }

  #messagesOf(changed: Iterable<Slot | string>): readonly ExitMessage[] {
    const { vin, status, clock, sees, topics } = this.#options;
    const { prefix, form, retain } = topics;
    const now = [...changed].filter((one) => typeof one !== 'string');
    const names = [...changed].filter((one) => typeof one === 'string');
    const messages = now.map((slot) => {
      const value = status.value(slot);
      const read = { at: status.changedAt(slot), stale: !status.fresh(slot, clock.now()) };
      const text = value === undefined ? '' : valueText(slot, value, form, read);
      return { topic: topicOfPath(prefix, vin, slot.path), text, retain };
    });
    const combined = combinedTexts(status, new Set(now), sees).map(([name, text]) => {
      return { topic: `${prefix}/${vin}/${name}`, text, retain };
    });
    return [...messages, ...combined, ...this.#signalMessages(names)];
  }

  #signalMessages(names: readonly string[]): readonly ExitMessage[] {
    const { signals, seesSignal = () => false, clock, vin, topics } = this.#options;
    const { prefix, form, retain } = topics;
    return names.flatMap((name) => {
      const signal = signals?.get(name, clock.now());
      if (signal === undefined || !seesSignal(signal)) return [];
      return [{ topic: `${prefix}/${vin}/signals/${name}`, text: signalText(signal, form), retain }];
    });
  }

  async #publish(messages: readonly ExitMessage[]): Promise<void> {
    const { link, clock } = this.#options;
    const encoder = new TextEncoder();
    await Promise.all(
      messages.map(({ topic, text, retain }) => link.publish({ topic, payload: encoder.encode(text), retain })),
    );
    if (messages.length > 0) this.#succeededAt = Math.round(clock.now());
  }

  #dropOldest(): void {
    this.#lost += this.#told.splice(0, Math.max(0, this.#told.length - MAX_TOLD)).length;
  }

  /** Logs a refusal by the broker. The link logs a lost connection; {@link up} then sends everything again. */
  #failed(error: unknown, topic: string): void {
    if (error instanceof VigieError && error.code === 'link.lost') return;
    this.#refused++;
    this.#error = reasonOf(error);
    if (!reachesPowerOfTwo(this.#refused - 1, this.#refused)) return;
    this.#options.log.warn('exit.refused', { topic, reason: this.#error, times: this.#refused });
  }
}
