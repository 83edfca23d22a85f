/**
 * The process that crash.test.ts kills. It appends, acknowledges, records and commits, and prints one line after each
 * commit. Argument: the directory of the store.
 */
import { writeSync } from 'node:fs';
import { openStore } from '../../../adapters/store/store.ts';
import { outboxEntry } from './entries.ts';

const { outbox, memory, records } = await openStore(process.argv[2]!, { segmentBytes: 20_000 });
const live: number[] = [...outbox.entries()].map((entry) => entry.seq);
let acknowledged: number[] = [];
memory.keep(() => [['state', { next: outbox.nextSeq(1), trips: [...records.list('trips')].length }]]);
for (;;) {
  for (let i = 0; i < 5; i++) {
    const seq = outbox.nextSeq(1);
    outbox.append(outboxEntry(1, seq));
    records.put('trips', { id: `t${seq % 50}`, at: seq, record: seq });
    live.push(seq);
  }
  await outbox.commit();
  // Synchronous, because a printed line is a promise.
  writeSync(1, `${JSON.stringify({ next: outbox.nextSeq(1), live, acknowledged })}\n`);
  acknowledged = live.length > 40 ? live.splice(0, 4) : [];
  for (const seq of acknowledged) outbox.acknowledge(1, seq);
  if (acknowledged[0]! % 3 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
}
