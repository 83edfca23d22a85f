/** Lost messages that are known at a start: recorded by the previous run, or lost through disk damage. */
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import type { Runs } from '../../protocol/runs.ts';
import type { Log, Memory, OutboxStore } from '../ports.ts';
import type { Gaps } from './gaps.ts';

/** Number of runs that one log line lists. */
const NAMED = 20;

/** Key of the gaps in {@link Memory}. */
const GAPS = 'gaps';

/** Restores `gaps` from `memory`, and stores its changes there from now on. */
export function recallGaps(memory: Memory, store: OutboxStore, gaps: Gaps, log: Log): void {
  const lost = [...store.owed()].flatMap((owed) => (owed.class === classOf('gap') ? owed.numbers : []));
  // A gap message that is neither queued nor lost has been acknowledged.
  const waits = (priority: number, seq: number): boolean =>
    store.reference(priority, seq) !== undefined || lost.some(([first, last]) => first <= seq && seq <= last);
  try {
    const state = memory.recall(GAPS);
    if (state !== undefined) gaps.restore(state, waits);
  } catch (error) {
    log.error('outbox.gapsUnreadable', {
      error: (error as Error).message,
    });
  }
  memory.keep(() => [[GAPS, gaps.state()]]);
}

/**
 * Restores gaps from waiting gap messages whose record was lost. Call before queueing anything: a given-up message can
 * be found again on the disk, and must not be delivered as well.
 */
export function readGaps(store: OutboxStore, gaps: Gaps, log: Log): void {
  const waiting = [...store.entries()].filter(({ kind }) => kind === 'gap');
  const unknown = waiting.filter((entry) => !gaps.hasReport(entry.seq) && !gaps.has(entry));
  // The recorded gaps are older than these gap messages, which report every gap that was open at their creation.
  if (unknown.length > 0) gaps.take();
  for (const { class: priority, seq } of unknown) readGap(priority, seq, store, gaps, log);
}

/**
 * Adds every number that the store owes and `gaps` lacks, and logs them. Returns true if there are any.
 */
export function findLost(store: OutboxStore, gaps: Gaps, log: Log): boolean {
  let found = false;
  for (const owed of store.owed()) {
    const lost = gaps.lose(owed);
    if (lost.all.length === 0) continue;
    found = true;
    log.error('outbox.lost', {
      class: owed.class,
      messages: lost.size,
      numbers: textOf(lost),
      files: store.damagedFiles ?? [],
    });
  }
  return found;
}

function readGap(priority: number, seq: number, store: OutboxStore, gaps: Gaps, log: Log): void {
  try {
    const entry = store.load(priority, seq);
    const message = entry === undefined ? undefined : decodeMessage(entry.payload);
    if (message?.kind === 'gap') gaps.report(seq, message.body);
  } catch (error) {
    log.error('outbox.gapUnreadable', {
      seq,
      error: (error as Error).message,
    });
  }
}

function textOf({ all }: Runs): string {
  const runs = all.slice(0, NAMED).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return all.length > NAMED ? `${runs.join(', ')}, …` : runs.join(', ');
}
