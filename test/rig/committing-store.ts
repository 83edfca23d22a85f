/** An outbox in memory that behaves like one on disk. The test decides when it commits. */
import { memoryOutboxStore } from '../../adapters/store/index.ts';
import type { OutboxStore } from '../../agent/ports.ts';

export function committingStore(commit: () => Promise<void>, inner: OutboxStore = memoryOutboxStore()): OutboxStore {
  return {
    entries: () => inner.entries(),
    reference: (priority, seq) => inner.reference(priority, seq),
    load: (priority, seq) => inner.load(priority, seq),
    nextSeq: (priority) => inner.nextSeq(priority),
    firstWaiting: (priority) => inner.firstWaiting(priority),
    get bytes() {
      return inner.bytes;
    },
    append: (entry) => inner.append(entry),
    acknowledge: (priority, seq) => inner.acknowledge(priority, seq),
    giveUp: (priority, seq) => inner.giveUp(priority, seq),
    owed: () => inner.owed(),
    gapKnown: (numbers) => inner.gapKnown(numbers),
    commit,
  };
}
