/** Collisions of the car. */
import { type Collision, collisionSchema } from '../../../protocol/schema/collision.ts';
import type { Answer } from '../call.ts';
import { tripFilter } from './alerts.ts';
import { collection, recordOf, recordsAskedFor } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { type Link, linksOf, linkTo, selfOf } from './links.ts';
import { withPositions } from './positions.ts';
import { writerOf } from './times.ts';
import { linkToTrip } from './trips.ts';
import type { Written } from './twins.ts';

const write = writerOf<Omit<Collision, 'readings' | 'pulse'>>(collisionSchema);

/**
 * `GET …/collisions` of a vehicle, of a fleet (deprecated) and of a trip; `one` is the operation that reads one of
 * them.
 */
export function collisions(one: string): (context: Context) => Answer {
  return (context) => {
    const isOf = tripFilter(context);
    const asked = context.sees('data:collision')
      ? recordsAskedFor<Collision>(context, 'collision').filter(({ record }) => isOf(record))
      : [];
    // The capital is published.
    return collection(context, 'Collisions', asked, ({ record }) => {
      return collisionOf(context, record, linkTo(context, one, { cid: record.id }) as Link);
    });
  };
}

/** `GET …/collisions/{cid}` */
export function collision(context: Context): Answer {
  const id = context.call.path['cid'] ?? '';
  const isOf = tripFilter(context);
  const record = context.sees('data:collision') ? recordOf<Collision>(context, 'collision', id) : undefined;
  if (record === undefined || !isOf(record)) throw unknown('collision', id);
  return found(collisionOf(context, record, selfOf(context)));
}

/** The readings around it are told by telemetry; the pulse stays in the car and on MQTT. */
function collisionOf(context: Context, { readings: _, pulse: __, ...record }: Collision, self: Link): Written {
  const { side, car } = context;
  const written = write(record);
  withPositions(context, written, record, ['position']);
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      trip: linkToTrip(context, record.tid),
    }),
    ...(side === 'fleet' ? { vin: car.vehicle.vin } : {}),
    ...written,
  };
}
