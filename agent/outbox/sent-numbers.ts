/** Last number sent in each class: a receiver can request lower numbers that it lacks, even without a later message. */
import { classes } from '../../protocol/classes.ts';
import type { HelloNumbers } from '../../protocol/schema/hello.ts';
import type { OutboxStore } from '../ports.ts';

/** @param first the first number of this run by class, for classes in which this run has assigned one */
export function sentNumbers(
  store: Pick<OutboxStore, 'nextSeq' | 'firstWaiting'>,
  first: ReadonlyMap<number, number>,
): HelloNumbers[] {
  return classes.flatMap((_, priority) => {
    const next = store.nextSeq(priority);
    if (next === 0) return [];
    return [{ class: priority, first: first.get(priority) ?? next, below: store.firstWaiting(priority) ?? next }];
  });
}
