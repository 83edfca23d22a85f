/** Content of `/vigie/v1/outbox` for a running car. */
import type { OutboxStore } from '../agent/ports.ts';
import { classes } from '../protocol/classes.ts';
import type { OutboxReport } from '../protocol/interface/own/outbox.ts';

export type OutboxNumbers = Pick<OutboxStore, 'entries' | 'nextSeq' | 'owed'>;

export function reportOutbox(store: OutboxNumbers): OutboxReport {
  const counted = classes.map(({ name, kinds }, priority) => {
    const made = store.nextSeq(priority);
    return { name, kinds: [...kinds], made, acknowledged: made, waiting: 0, bytes: 0, missing: 0 };
  });
  for (const { class: priority, seq, bytes } of store.entries()) {
    const one = counted[priority];
    if (one === undefined) continue;
    one.waiting++;
    one.bytes += bytes;
    one.acknowledged = Math.min(one.acknowledged, seq);
  }
  for (const { class: priority, numbers } of store.owed()) {
    const one = counted[priority];
    if (one !== undefined) for (const [first, last] of numbers) one.missing += last - first + 1;
  }
  return { classes: counted };
}
