/** Counts messages that a bench's embedded broker received, independently of the agent and even while it is killed. */
import type { OutboxNumbers } from '../assembly/own-outbox.ts';
import { Lives } from '../hub/core/lives.ts';
import { ClassNumbers } from '../hub/core/numbers.ts';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { classes, classOf } from '../protocol/classes.ts';
import type { ReceivedReport } from '../protocol/interface/own/outbox.ts';
import { Runs } from '../protocol/runs.ts';
import { parseTopic } from '../protocol/topics.ts';

interface Received {
  readonly numbers: ClassNumbers;
  /** Received numbers, by start of the agent. */
  readonly seen: Map<number, Runs>;
  /** Number of messages that arrived for the first time, and number of duplicates. */
  arrived: number;
  again: number;
}

export class BenchReceiver {
  readonly #vin: string;
  readonly #lives = new Lives();
  readonly #classes: readonly Received[];

  /**
   * Counts from the present contents of `store`: of the numbers that it has assigned, only its `entries` and those that
   * it owes (`owed`) have not arrived.
   */
  constructor(vin: string, store: OutboxNumbers) {
    this.#vin = vin;
    const acknowledged = classes.map((_, priority) => {
      const runs = new Runs();
      const next = store.nextSeq(priority);
      if (next > 0) runs.add(0, next - 1);
      return runs;
    });
    for (const { class: priority, seq } of store.entries()) acknowledged[priority]?.remove(seq);
    for (const { class: priority, numbers } of store.owed()) {
      for (const [first, last] of numbers) acknowledged[priority]?.remove(first, last);
    }
    this.#classes = acknowledged.map(({ all: arrived }) => ({
      numbers: new ClassNumbers({ arrived, givenUp: [], starts: [] }),
      seen: new Map(),
      arrived: 0,
      again: 0,
    }));
  }

  /** Counts a message that the broker is about to acknowledge. Throws `message.malformed` if the message is invalid. */
  take(topic: string, payload: Uint8Array): void {
    const { vin, direction } = parseTopic(topic) ?? {};
    if (vin !== this.#vin || direction !== 'up') return;
    const sent = decodeMessage(payload);
    const message = { ...sent, boot: this.#lives.startOf(sent.boot) };
    const { kind, boot, seq } = message;
    const own = this.#classes[classOf(kind)];
    if (own === undefined) return;
    const seen = own.seen.get(boot) ?? new Runs();
    own.seen.set(boot, seen);
    if (seen.has(seq)) {
      own.again++;
      own.numbers.arriveAgain(message);
      return;
    }
    seen.add(seq);
    own.arrived++;
    own.numbers.arrive(message);
    if (kind === 'gap') this.#classes[message.body.class]?.numbers.giveUp(boot, message.body.numbers);
    if (kind === 'hello') {
      for (const one of message.body.numbers ?? []) this.#classes[one.class]?.numbers.sent(boot, one);
    }
  }

  report(): ReceivedReport {
    return {
      classes: this.#classes.map(({ numbers, arrived, again }, priority) => {
        const { name = '', kinds = [] } = classes[priority] ?? {};
        const highest = numbers.report.arrived.at(-1)?.[1] ?? -1;
        return { name, kinds: [...kinds], arrived, again, below: highest + 1, missing: numbers.missing };
      }),
    };
  }
}
