/** Corrects the times of earlier messages of a start once the car has the right time. */
import { classOf } from '../../protocol/classes.ts';
import type { CommitChanges } from '../core/commit.ts';
import { seriesKinds } from '../core/message.ts';
import { clockNumber, EVENTS, kindNumber } from './rows.ts';
import type { SqlSteps } from './steps.ts';

export function* keepCorrections(corrections: CommitChanges['corrections']): SqlSteps<void> {
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
    for (const kind of seriesKinds) {
      yield [
        'UPDATE messages SET at = at + ? WHERE vehicle = ? AND class = ? AND boot = ? AND kind = ? AND clock = ?',
        by,
        vehicle,
        classOf(kind),
        boot,
        kindNumber(kind),
        clockNumber('none'),
      ];
    }
  }
}
