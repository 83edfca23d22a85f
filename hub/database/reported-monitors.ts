/** What cars report of their monitors, as it comes. */

import type { MonitorList } from '../../protocol/schema/monitor.ts';
import { type Life, lowestStart } from '../core/lives.ts';
import { type CarMessage, isAfter, type MessageOrder } from '../core/message.ts';
import type { SqliteDatabase } from './sqlite.ts';

/** Other commands of the same comparison may be on their way to a car that reports one of them carried out, ms. */
export const SETTLING = 5_000;

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
export function keepMonitors(
  database: SqliteDatabase,
  vehicle: number,
  { message, received }: CarMessage,
  { monitors }: MonitorList,
): void {
  const known = database.one('SELECT boot, seq FROM reported_monitors WHERE vehicle = ?', vehicle);
  if (known !== undefined && !isAfter(message, known as unknown as MessageOrder)) return;
  database.run(
    `INSERT INTO reported_monitors VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
     boot = excluded.boot, seq = excluded.seq, received = excluded.received, document = excluded.document`,
    vehicle,
    message.boot,
    message.seq,
    received,
    JSON.stringify(monitors),
  );
  database.run(
    'UPDATE car_monitors SET due = min(coalesce(due, ?), ?) WHERE vehicle = ?',
    received,
    received + SETTLING,
    vehicle,
  );
}
