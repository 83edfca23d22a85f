/** Stores the monitors that cars report. */

import type { CommitChanges } from '../core/commit.ts';
import { type Life, lowestStart } from '../core/lives.ts';
import { isAfter, type MessageOrder } from '../core/message.ts';
import type { SqlSteps } from './steps.ts';

/** Other commands of the same comparison may be on their way to a car that reports one of them carried out, ms. */
const SETTLING = 5_000;

/** A car that was not known before: its fleets may have monitors for it. */
export const NEW_CAR = 'INSERT INTO car_monitors (vehicle, due) VALUES (?, ?) ON CONFLICT DO NOTHING';

/** A new folder of records has no monitors until it reports some. Parameters: {@link newLifeMonitors}. */
const NO_MONITORS = `UPDATE reported_monitors SET boot = ?, seq = -1, received = ?, document = '[]' WHERE vehicle = ?`;
const COMPARE_NOW = 'UPDATE car_monitors SET due = ?, attempts = 0 WHERE vehicle = ?';

/** Statements for a car that has begun a life after another one: it gets the monitors that it should have. */
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

/** The newest list counts; it is compared with what the car should have. */
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
