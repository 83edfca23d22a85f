/** Stores readings of telemetry as rows, some thousand with one statement. */
import type { PlacedMessage } from '../../core/commit.ts';
import { type CarMessage, recordPlaceOf } from '../../core/message.ts';
import type { Saved } from '../../core/ports.ts';
import { READING_COLUMNS, readingRows } from '../readings.ts';
import { columns } from './database.ts';
import type { Execute } from './execute.ts';
import { behindOf, lateness } from './records.ts';

/** Largest number of rows in one statement. */
const ROWS = 5_000;

/** Stores the readings of new messages. Returns the messages that cannot be read. */
export async function keepReadings(
  execute: Execute,
  messages: readonly PlacedMessage[],
): Promise<Pick<Saved, 'unreadable'>> {
  const placed = messages.flatMap((one) => {
    const place = one.message.kind === 'telemetry' ? recordPlaceOf(one.message) : undefined;
    return place === undefined ? [] : [{ one, place }];
  });
  const behind = await behindOf(execute, placed);
  const unreadable: CarMessage[] = [];
  let rows: (readonly unknown[])[] = [];
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    await execute(
      `INSERT INTO readings (${READING_COLUMNS})
       SELECT vehicle, path, at, received, boot, number, CAST(flag AS boolean), text
       FROM unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::int[], $8::text[])
         AS given (${READING_COLUMNS})`,
      columns(rows),
    );
    rows = [];
  };
  for (const row of readingRows(
    messages,
    (one) => lateness(one, behind),
    (one) => unreadable.push(one),
  )) {
    rows.push(row);
    if (rows.length === ROWS) await flush();
  }
  await flush();
  return unreadable.length === 0 ? {} : { unreadable };
}
