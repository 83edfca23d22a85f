/** Messages of a car as JSON for `vigie export`: wanted ones with their bodies, all others as runs of numbers. */
import type { Call, Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { Yielder } from '../../adapters/http/resources/yield.ts';
import { momentOf } from '../../adapters/http/signals.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import {
  corrected,
  type ExportContent,
  exportContents,
  type MessagePage,
  type PageEntry,
  seenBody,
  timeOf,
  type UnusedNumbers,
} from '../../protocol/interface/own/message-pages.ts';
import { type Sees, seesOf } from '../../protocol/interface/visible-members.ts';
import type { Catalog } from '../../protocol/schema/catalog.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { Catalogs } from '../../protocol/signals/catalog.ts';
import { bootOf } from '../core/lives.ts';
import { isSeries } from '../core/message.ts';
import type { MessagesAsked, NumbersStore, StoredMessage, VehicleReader } from '../core/ports.ts';
import { query, reading } from './reading.ts';

/** Messages of one page. Their bytes are in memory together. */
const PAGE = 500;

type Reader = Pick<VehicleReader, 'vehicle' | 'messages' | 'records'> & Pick<NumbersStore, 'lives'>;

export function messageHandlers(reader: Reader): Handlers {
  return {
    'hub.messages.list': async (call) => {
      const vin = call.path['vin'] ?? '';
      if ((await reader.vehicle(vin)) === undefined) throw unknown('vehicle', vin);
      const asked = askedOf(call);
      const rows = await reader.messages(vin, asked);
      const catalogs = new Catalogs();
      if (rows.some(({ kind, payload }) => kind === 'telemetry' && payload !== undefined)) {
        for await (const { record } of reader.records(vin, 'catalog')) catalogs.add(record as Catalog);
      }
      const lives = await reader.lives(vin);
      const shown = rows.map((row) => ({ ...row, boot: bootOf(row.boot, lives) }));
      const entries = await entriesOf(shown, asked, seesOf(call.caller), catalogs);
      const last = rows.length < PAGE ? undefined : rows.at(-1);
      const page: MessagePage = { entries, ...(last && { next: `${last.class}-${last.seq}-${last.boot}` }) };
      return found(page);
    },
  };
}

async function entriesOf(
  rows: readonly StoredMessage[],
  asked: MessagesAsked,
  sees: Sees,
  catalogs: Catalogs,
): Promise<readonly PageEntry[]> {
  const entries: PageEntry[] = [];
  const yielder = new Yielder();
  let run: UnusedNumbers | undefined;
  for (const row of rows) {
    await yielder.pause();
    const entry = entryOf(row, asked, sees, catalogs);
    if (run !== undefined && 'numbers' in entry && isContinued(run, entry)) {
      run = { ...entry, numbers: [run.numbers[0], entry.numbers[1]] };
      entries[entries.length - 1] = run;
      continue;
    }
    entries.push(entry);
    run = 'numbers' in entry ? entry : undefined;
  }
  return entries;
}

function isContinued(run: UnusedNumbers, next: UnusedNumbers): boolean {
  const isSame = run.class === next.class && run.boot === next.boot && run.side === next.side;
  return isSame && run.numbers[1] + 1 === next.numbers[0];
}

function entryOf(
  { class: priority, kind, payload, behind, ...row }: StoredMessage,
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: MessagesAsked,
  sees: Sees,
  catalogs: Catalogs,
): PageEntry {
  if (payload === undefined) {
    const side = !isSeries(kind) ? 0 : row.at < from ? -1 : row.at >= to ? 1 : 0;
    return { class: priority, boot: row.boot, numbers: [row.seq, row.seq], side };
  }
  const message = decodeMessage(payload);
  const known = corrected(message, latenessOf(message, behind));
  const body = seenBody(sees, known, catalogs);
  return { class: priority, boot: row.boot, seq: row.seq, kind, at: timeOf(known), ...(body && { body }) };
}

const latenessOf = ({ clock }: Message, behind: number): number => (clock === 'none' ? behind : 0);

function askedOf({ query: asked }: Call): MessagesAsked {
  const { content = 'readings', from, to, after } = asked as Readonly<Record<string, string | undefined>>;
  return {
    content: content as ExportContent,
    limit: PAGE,
    ...defined({ from: momentOf(from, 'from'), to: momentOf(to, 'to'), after: positionOf(after) }),
  };
}

function positionOf(text: string | undefined): MessagesAsked['after'] {
  if (text === undefined) return undefined;
  const found = /^(\d{1,2})-(\d{1,10})-(\d{1,16})$/.exec(text);
  if (found === null) throw new VigieError('input.malformed', 'must be `next` of a page', { where: 'after' });
  const [priority = 0, seq = 0, boot = 0] = found.slice(1).map(Number);
  return { class: priority, seq, boot };
}

const moment = { type: 'string', minLength: 1, maxLength: 64 };

export const messageOperations: readonly Operation[] = [
  reading(
    'hub.messages.list',
    '/vigie/v1/vehicles/{vin}/messages',
    'Reads the messages of a car by class and number, as `vigie export` does: those wanted with body, others as numbers.',
    {
      parameters: [
        query('content', 'Which messages are wanted; readings unless given.', { type: 'string', enum: exportContents }),
        query('from', 'Start of the period (RFC 3339).', moment),
        query('to', 'End of the period (RFC 3339), excluded.', moment),
        query('after', '`next` of the page before.', { type: 'string', minLength: 1, maxLength: 40 }),
      ],
      description: 'A page of messages; without `next` it is the last.',
    },
  ),
];
