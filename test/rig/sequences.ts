import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';

/** Counts arrivals of numbered messages at a subscriber that was connected throughout. */
export class Sequences {
  /** Number of deliveries, including duplicates. */
  deliveries = 0;
  /** Numbers that arrived with different contents, which is never allowed. */
  readonly conflicts: string[] = [];
  readonly #classes = new Map<number, Map<number, string>>();
  readonly boots = new Set<number>();

  take(payload: Uint8Array): void {
    const { kind, seq, boot } = decodeMessage(payload);
    this.deliveries++;
    this.boots.add(boot);
    const priority = classOf(kind);
    const numbers = this.#classes.get(priority) ?? new Map<number, string>();
    this.#classes.set(priority, numbers);
    const content = Buffer.from(payload).toString('hex');
    const before = numbers.get(seq);
    if (before !== undefined && before !== content) this.conflicts.push(`class ${priority} seq ${seq}`);
    numbers.set(seq, content);
  }

  /** Number of different messages. */
  get messages(): number {
    return [...this.#classes.values()].reduce((sum, numbers) => sum + numbers.size, 0);
  }

  /** Number of repeated deliveries. */
  get duplicates(): number {
    return this.deliveries - this.messages;
  }

  /** Numbers below the highest of each class that never arrived. */
  get missing(): string[] {
    const missing: string[] = [];
    for (const [priority, numbers] of this.#classes) {
      const highest = Math.max(...numbers.keys());
      for (let seq = 0; seq <= highest; seq++) if (!numbers.has(seq)) missing.push(`class ${priority} seq ${seq}`);
    }
    return missing;
  }
}
