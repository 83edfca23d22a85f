/** What cars report of their monitors, as it comes. */
import { type CarMessage, isAfter, type MessageOrder } from '../../hub/message.ts';
import type { MonitorList } from '../../protocol/schema/monitor.ts';
import type { SqliteDatabase } from './sqlite.ts';

/** Other commands of the same comparison may be on their way to a car that reports one of them carried out, ms. */
export const SETTLING = 5_000;

/** A car that was not known before: its fleets may have monitors for it. */
export const NEW_CAR = 'INSERT INTO car_monitors (vehicle, due) VALUES (?, ?) ON CONFLICT DO NOTHING';

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
    ...[vehicle, message.boot, message.seq, received, JSON.stringify(monitors)],
  );
  database.run(
    'UPDATE car_monitors SET due = min(coalesce(due, ?), ?) WHERE vehicle = ?',
    ...[received, received + SETTLING, vehicle],
  );
}
