/** Stores the monitors that cars report. */

import type { CommitChanges } from '../core/commit.ts';
import { type Life, lowestStart } from '../core/lives.ts';
import { isAfter, type MessageOrder } from '../core/message.ts';
import type { SqlSteps } from './steps.ts';

/** Delay in ms before the next comparison: further commands of this one may still be in transit to the car. */
const SETTLING = 5_000;

/** Marks a new car as due: its fleets may have monitors for it. */
export const NEW_CAR = 'INSERT INTO car_monitors (vehicle, due) VALUES (?, ?) ON CONFLICT DO NOTHING';

/** A new folder of records has no monitors until its first report. Parameters: {@link newLifeMonitors}. */
const NO_MONITORS = `UPDATE reported_monitors SET boot = ?, seq = -1, received = ?, document = '[]' WHERE vehicle = ?`;
const COMPARE_NOW = 'UPDATE car_monitors SET due = ?, attempts = 0 WHERE vehicle = ?';

/** Returns statements for a car that has begun another life, so that it receives its monitors. */
export function newLifeMonitors(
  vehicle: number,
  life: Pick<Life, 'ordinal'>,
  received: number,
): readonly (readonly [sql: string, ...values: number[]])[] {
  return [
    [NO_MONITORS, lowestStart(life), received, vehicle],
    [COMPARE_NOW, received, vehicle],
  ];
}

/** Stores the newest list, and marks the car as due for a comparison. */
export function* keepMonitors(lists: CommitChanges['monitors']): SqlSteps<void> {
  for (const { vehicle, message, received } of lists) {
    const { boot, seq, body } = message;
    const [known] = yield ['SELECT boot, seq FROM reported_monitors WHERE vehicle = ?', vehicle];
    if (known !== undefined && !isAfter(message, known as unknown as MessageOrder)) continue;
    yield [
      `INSERT INTO reported_monitors VALUES (?, ?, ?, ?, ?) ON CONFLICT (vehicle) DO UPDATE SET
       boot = excluded.boot, seq = excluded.seq, received = excluded.received, document = excluded.document`,
      vehicle,
      boot,
      seq,
      received,
      JSON.stringify(body.monitors),
    ];
    yield [
      'UPDATE car_monitors SET due = CASE WHEN due IS NULL THEN CAST(? AS BIGINT) WHEN due > ? THEN ? ELSE due END WHERE vehicle = ?',
      received,
      received + SETTLING,
      received + SETTLING,
      vehicle,
    ];
  }
}
