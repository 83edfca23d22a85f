/**
 * The process that crash.test.ts kills: appends, acknowledges and commits until then, printing one line after each
 * commit. Argument: the directory of the store.
 */
import { writeSync } from 'node:fs';
import { openOutboxStore } from '../../../adapters/store/outbox-store.ts';
import { outboxEntry } from './entries.ts';

const store = await openOutboxStore(process.argv[2]!, { segmentBytes: 20_000 });
const live: number[] = [...store.entries()].map((entry) => entry.seq);
for (;;) {
  for (let i = 0; i < 5; i++) {
    const seq = store.nextSeq(1);
    store.append(outboxEntry(1, seq));
    live.push(seq);
  }
  await store.commit();
  const acknowledged = live.length > 40 ? live.splice(0, 4) : [];
  for (const seq of acknowledged) store.acknowledge(1, seq);
  // Written in place: a line that was printed is a promise.
  writeSync(1, `${JSON.stringify({ next: store.nextSeq(1), live, acknowledged })}\n`);
}
