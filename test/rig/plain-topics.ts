/** Messages on plain topics, compared with the values that the car had. */
import { combinedTexts } from '../../adapters/exits/combined.ts';
import { valueText } from '../../adapters/exits/values.ts';
import type { Status } from '../../agent/model/status.ts';
import type { Slot } from '../../protocol/slots.ts';

/** All texts of each topic in the order of the car's values; '' while a value is unknown. */
export class TopicHistory {
  /** By the end of the topic, after the VIN. */
  readonly texts = new Map<string, string[]>();
  readonly #status: Status;

  /** Observes the status from now on. */
  constructor(status: Status) {
    this.#status = status;
    status.observe({ changed: (slot) => this.#add(slot), removed: (slot) => this.#add(slot) });
  }

  #add(slot: Slot): void {
    const value = this.#status.value(slot);
    const text = value === undefined ? '' : valueText(slot, value, 'value', { at: 0, stale: false });
    this.#append(slot.path.replaceAll('.', '/'), text);
    for (const [name, combined] of combinedTexts(this.#status, new Set([slot]), () => true)) {
      this.#append(name, combined);
    }
  }

  #append(name: string, text: string): void {
    const texts = this.texts.get(name);
    if (texts === undefined) this.texts.set(name, [text]);
    else if (texts.at(-1) !== text) texts.push(text);
  }
}

export interface TopicFaults {
  /** Messages with a value that the car never had. */
  readonly unknown: string[];
  /** Messages with a value of the car, after a message with a newer one. */
  readonly older: string[];
}

/** Compares the messages of a receiver in their order with the history. */
export function topicFaults(history: TopicHistory, messages: readonly (readonly [string, string])[]): TopicFaults {
  const faults: TopicFaults = { unknown: [], older: [] };
  const positions = new Map<string, number>();
  for (const [name, text] of messages) {
    const texts = history.texts.get(name) ?? [];
    const at = texts.indexOf(text, positions.get(name) ?? 0);
    if (at >= 0) positions.set(name, at);
    else (texts.includes(text) ? faults.older : faults.unknown).push(`${name} ${text}`);
  }
  return faults;
}
