/** Numbers the starts of agents by the lives of their folders. */
import { type Life, Lives, MAX_LIVES } from '../../core/lives.ts';
import type { CarMessage } from '../../core/message.ts';
import type { BegunLife } from '../../core/ports.ts';
import { newLifeMonitors } from '../reported-monitors.ts';
import { columns, numbered } from './database.ts';
import type { Execute } from './execute.ts';

/** Numbers the starts of messages. Returns lives that follow another one. The vehicles must be locked. */
export async function keepLives(
  execute: Execute,
  messages: readonly CarMessage[],
  vehicles: ReadonlyMap<string, { readonly id: number }>,
): Promise<{ readonly placed: CarMessage[]; readonly begun: BegunLife[] }> {
  const known = new Map<number, Life[]>();
  const ids = [...new Set([...vehicles.values()].map(({ id }) => id))];
  const rows = await execute(
    'SELECT vehicle, ordinal, first FROM lives WHERE vehicle = ANY ($1::bigint[]) ORDER BY vehicle, ordinal',
    columns(ids.map((id) => [id])),
  );
  for (const { vehicle, ordinal, first } of rows) {
    const own = known.get(vehicle as number) ?? [];
    known.set(vehicle as number, own);
    own.push({ ordinal: ordinal as number, first: first as number });
  }
  const lives = new Map(ids.map((id) => [id, new Lives(known.get(id))]));
  const begun: (BegunLife & Life & { readonly vehicle: number; readonly since: number })[] = [];
  const placed = messages.map((one) => {
    const { vin, message, received } = one;
    const vehicle = vehicles.get(vin)?.id as number;
    const own = lives.get(vehicle) as Lives;
    const boot = own.startOf(message.boot);
    for (const life of own.begun.splice(0)) begun.push({ ...life, vin, vehicle, since: received });
    return { ...one, message: { ...message, boot } };
  });
  if (begun.length > 0) {
    await execute(
      'INSERT INTO lives SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])',
      columns(begun.map(({ vehicle, ordinal, first, since }) => [vehicle, ordinal, first, since])),
    );
  }
  const later = begun.filter(({ ordinal }) => ordinal > 0);
  if (later.length > 0) {
    await execute(
      `DELETE FROM lives USING (SELECT vehicle, max(ordinal) AS newest FROM unnest($1::bigint[], $2::bigint[])
         AS begun (vehicle, ordinal) GROUP BY vehicle) AS given
       WHERE lives.vehicle = given.vehicle AND lives.ordinal <= given.newest - ${MAX_LIVES}`,
      columns(later.map(({ vehicle, ordinal }) => [vehicle, ordinal])),
    );
  }
  for (const life of later) {
    for (const [sql, ...values] of newLifeMonitors(life.vehicle, life, life.since)) {
      await execute(numbered(sql), values);
    }
  }
  return { placed, begun: later.map(({ vin, first, ordinal }) => ({ vin, first, ordinal })) };
}
