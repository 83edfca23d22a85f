/** Reads the messages of a car page by page, by class and number. */
import { exportKinds, MAX_SPAN_MS } from '../../protocol/interface/own/message-pages.ts';
import { kinds } from '../../protocol/schema/kind.ts';
import { isSeries } from '../core/message.ts';
import type { MessagesAsked, StoredMessage } from '../core/ports.ts';
import { CAR, kindNumber, type Select, wholeNumber } from './rows.ts';

export async function messageRows(
  select: Select,
  vin: string,
  asked: MessagesAsked,
): Promise<readonly StoredMessage[]> {
  const { content, from, to, after, limit } = asked;
  const wanted = [...exportKinds[content], 'gap'] as const;
  // A record may be sent again, and corrected, long after the period that it belongs to.
  const series = numbersOf(wanted.filter(isSeries));
  const others = numbersOf(wanted.filter((kind) => !isSeries(kind)));
  const rows = await select(
    `SELECT messages.class, messages.seq, messages.boot, messages.kind, messages.at, behind,
       CASE WHEN (kind IN (${series}) AND messages.at >= ? AND messages.at < ?) OR kind IN (${others}) THEN payload END AS payload
     FROM messages
     LEFT JOIN corrections ON corrections.vehicle = messages.vehicle AND corrections.boot = messages.boot
     WHERE messages.vehicle = ${CAR} AND (messages.class, messages.seq, messages.boot) > (?, ?, ?)
     ORDER BY messages.class, messages.seq, messages.boot LIMIT ?`,
    wholeNumber(from === undefined ? undefined : from - MAX_SPAN_MS, Number.MIN_SAFE_INTEGER),
    wholeNumber(to, Number.MAX_SAFE_INTEGER),
    vin,
    after?.class ?? -1,
    after?.seq ?? -1,
    after?.boot ?? -1,
    limit,
  );
  return rows.map(({ class: priority, seq, boot, kind, at, behind, payload }) => ({
    class: priority as number,
    seq: seq as number,
    boot: boot as number,
    kind: kinds[kind as number] as StoredMessage['kind'],
    at: at as number,
    behind: typeof behind === 'number' ? behind : 0,
    ...(payload === null ? {} : { payload: payload as Uint8Array }),
  }));
}

function numbersOf(some: readonly StoredMessage['kind'][]): string {
  // An empty list is no SQL; no kind has this number.
  return some.length === 0 ? '-1' : some.map(kindNumber).join(', ');
}
