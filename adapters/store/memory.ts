/** The outbox store that keeps nothing: for replays and tests. */
import type { OutboxEntry, OutboxStore } from '../../agent/ports.ts';
import { outboxCodec } from './outbox-entry.ts';
import { NumberedSeries } from './series.ts';

/** An empty store; `append` throws `input.malformed` for a sequence number that was used, as the file store does. */
export function memoryOutboxStore(): OutboxStore {
  const series = new NumberedSeries<OutboxEntry>(outboxCodec);
  return {
    volatile: true,
    entries: () => series.values(),
    nextSeq: (priorityClass) => series.next(priorityClass),
    get bytes() {
      return series.bytes;
    },
    append(entry) {
      series.append(entry);
      series.takeOperations();
    },
    acknowledge(priorityClass, seq) {
      series.remove(priorityClass, seq);
      series.takeOperations();
    },
    async commit() {},
  };
}
