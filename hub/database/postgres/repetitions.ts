/**
 * Finds the new messages of a commit by the numbers of the car, under the lock of its row: no unique key can span
 * partitions by time. Only messages with a number that may have arrived before are compared with stored ones.
 */
import { createHash } from 'node:crypto';
import { classes } from '../../../protocol/classes.ts';
import { isCounted } from '../../core/lives.ts';
import type { CarMessage } from '../../core/message.ts';
import { asConflict } from '../conflicts.ts';
import { kindNumber } from '../rows.ts';
import { columns } from './database.ts';
import type { Execute } from './execute.ts';
import type { CommitNumbers, OwnMessage } from './numbers.ts';

/** A message that has the class and the number of another one. */
interface StoredMessage {
  readonly boot: number;
  readonly contains: (payload: Uint8Array) => boolean;
}

interface SortedMessages {
  /** New messages, in the order of arrival. Conflicting ones have another start ({@link asConflict}). */
  readonly fresh: readonly OwnMessage[];
  /** Messages of `fresh` with the number of a different message, unchanged and as in `fresh`. */
  readonly conflicts: ReadonlyMap<OwnMessage, CarMessage>;
  /** Messages that are stored already. */
  readonly repeated: readonly OwnMessage[];
}

/** Sorts the messages of a commit. Messages that retention has removed are in no list. */
export async function sortMessages(
  execute: Execute,
  messages: readonly OwnMessage[],
  numbers: CommitNumbers,
): Promise<SortedMessages> {
  const unsure = messages.filter((one) => !numbers.of(one).isCertainlyNew(one.message));
  const stored = await storedLike(execute, unsure);
  const fresh: OwnMessage[] = [];
  const conflicts = new Map<OwnMessage, CarMessage>();
  const repeated: OwnMessage[] = [];
  for (const one of messages) {
    const like = stored.get(slotOf(one)) ?? [];
    stored.set(slotOf(one), like);
    const keep = (kept: OwnMessage): void => {
      fresh.push(kept);
      like.push({ boot: kept.message.boot, contains: (payload) => Buffer.compare(payload, kept.payload) === 0 });
    };
    const first = like.find(({ boot }) => boot === one.message.boot);
    if (first === undefined) {
      // The hub may have assigned an uncounted start to the previous life, before the car's new life began here.
      const isKnown = !isCounted(one.message.boot) && like.some(({ contains }) => contains(one.payload));
      if (isKnown) repeated.push(one);
      else if (like.length > 0 || !numbers.of(one).has(one.message)) keep(one);
      continue;
    }
    const conflict = asConflict(one);
    if (first.contains(one.payload) || like.some(({ boot }) => boot === conflict.message.boot)) repeated.push(one);
    else {
      conflicts.set(conflict, one);
      keep(conflict);
    }
  }
  return { fresh, conflicts, repeated };
}

function slotOf({ vehicle, class: priority, message: { seq } }: OwnMessage): string {
  return `${vehicle}/${priority}/${seq}`;
}

/** Returns the stored messages with the class and the number of each of these, of all starts. */
async function storedLike(execute: Execute, messages: readonly OwnMessage[]): Promise<Map<string, StoredMessage[]>> {
  const stored = new Map<string, StoredMessage[]>();
  const slots = new Map(messages.map((one) => [slotOf(one), one]));
  for (const [priority, { kinds }] of classes.entries()) {
    const own = [...slots.values()].filter((one) => one.class === priority);
    if (own.length === 0) continue;
    const rows = await execute(
      `SELECT messages.vehicle, messages.seq, boot, encode(sha256(payload), 'hex') AS digest
       FROM unnest($1::int[], $2::int[]) AS given (vehicle, seq)
       JOIN messages ON messages.vehicle = given.vehicle AND messages.class = ${priority}
         AND messages.seq = given.seq AND kind IN (${kinds.map(kindNumber).join(', ')})`,
      columns(own.map(({ vehicle, message: { seq } }) => [vehicle, seq])),
    );
    for (const { vehicle, seq, boot, digest } of rows) {
      const slot = `${vehicle}/${priority}/${seq}`;
      const like = stored.get(slot) ?? [];
      stored.set(slot, like);
      like.push({ boot: boot as number, contains: (payload) => digestOf(payload) === digest });
    }
  }
  return stored;
}

function digestOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}
