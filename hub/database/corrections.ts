/** Corrects the times of earlier messages of a start once the car has the right time. */
import { classOf } from '../../protocol/classes.ts';
import type { CommitChanges } from '../core/commit.ts';
import { seriesKinds } from '../core/message.ts';
import { clockNumber, EVENTS, kindNumber } from './rows.ts';
import type { SqlSteps } from './steps.ts';

const OF_START = 'vehicle = ? AND class = ? AND boot = ? AND kind = ? AND clock = ?';

/**
 * Telemetry that is corrected gets new ids, because exits have passed it without its time. `last`: on SQLite the highest
 * id so far, also of a deleted message.
 */
export function* keepCorrections(corrections: CommitChanges['corrections'], last?: number): SqlSteps<void> {
  for (const { vehicle, boot, by } of corrections) {
    const added = yield [
      'INSERT INTO corrections VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING vehicle',
      vehicle,
      boot,
      by,
    ];
    if (added.length === 0) continue;
    yield [
      `UPDATE records SET at = records.at + ?, began = records.began + ? FROM messages
       WHERE records.vehicle = ? AND records.boot = ? AND messages.id = records.message AND ${EVENTS} AND messages.clock = ?`,
      by,
      by,
      vehicle,
      boot,
      clockNumber('none'),
    ];
    yield [
      'UPDATE readings SET at = at + ?, boot = NULL WHERE vehicle = ? AND boot = ? AND boot IS NOT NULL',
      by,
      vehicle,
      boot,
    ];
    for (const kind of seriesKinds) {
      const own = [vehicle, classOf(kind), boot, kindNumber(kind), clockNumber('none')];
      if (kind !== 'telemetry') yield [`UPDATE messages SET at = at + ? WHERE ${OF_START}`, by, ...own];
      else if (last === undefined)
        yield [`UPDATE messages SET at = at + ?, id = DEFAULT WHERE ${OF_START}`, by, ...own];
      else {
        yield [
          `UPDATE messages SET at = at + ?, id = id + 1 + max(?, (SELECT max(id) FROM messages))
             - (SELECT min(id) FROM messages WHERE ${OF_START}) WHERE ${OF_START}`,
          by,
          last,
          ...own,
          ...own,
        ];
      }
    }
  }
}
