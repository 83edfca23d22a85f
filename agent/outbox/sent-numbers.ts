/** How far each class was sent: a receiver that lacks a lower number asks for it, though no later message shows the hole. */
import { classes } from '../../protocol/classes.ts';
import type { HelloNumbers } from '../../protocol/schema/hello.ts';
import type { OutboxStore } from '../ports.ts';

/** @param first by class: the first number of this start, of the classes of which it has given one out */
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
