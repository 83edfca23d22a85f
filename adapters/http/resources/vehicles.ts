/** The car as one of the vehicles of a fleet or of a user. */

import { defined } from '../../../protocol/defined.ts';
import type { Country } from '../../../protocol/interface/countries.ts';
import { dateTime } from '../../../protocol/interface/json/date-time.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import { MAX_PICTURES } from '../../../protocol/schema/vehicle.ts';
import type { Answer } from '../call.ts';
import { onboardCapabilities } from './capabilities.ts';
import type { VehicleDescription } from './car.ts';
import { collectionOfVehicles } from './collection.ts';
import { type Context, found } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { nextService } from './maintenance.ts';
import { hasPosition } from './positions.ts';

/** `GET …/vehicles`: lists vehicles whose VIN begins with `vinPrefix`. */
export async function vehicles(context: Context): Promise<Answer> {
  const prefix = (context.call.query['vinPrefix'] as string | undefined) ?? '';
  const represent = (own: Context): Promise<Members> => vehicleOf(own, linkTo(own, 'vehicles.get') as ResourceLink);
  return collectionOfVehicles(context, 'vehicles', represent, prefix.toUpperCase());
}

/** `GET …/vehicles/{vid}` */
export async function vehicle(context: Context): Promise<Answer> {
  return found(await vehicleOf(context, selfOf(context)));
}

/** `GET /vehicles/{vin}`: does not contain when the vehicle was created or changed. */
export function capabilitiesByVin(context: Context): Answer {
  const { vin, motorization } = context.car.vehicle;
  return found({ _links: { self: selfOf(context) }, vin, motorization, ...embedded(context) });
}

/** Vehicle (interface 3.19.2 and 4.17.2). */
export async function vehicleOf(context: Context, self: ResourceLink): Promise<Members> {
  const { vehicle } = context.car;
  const { id, vin, motorization, brand, createdAt, updatedAt } = vehicle;
  const pictures = picturesOf(vehicle);
  const label = labelOf(context);
  return {
    _links: await vehicleLinks(context, self),
    id,
    vin,
    motorization,
    ...(createdAt === undefined ? {} : { createdAt: dateTime(createdAt) }),
    ...(updatedAt === undefined ? {} : { updatedAt: dateTime(updatedAt) }),
    ...defined({ brand, pictures }),
    ...(context.side === 'user' && label !== undefined ? { label } : {}),
    ...callCenterOf(context),
    ...embedded(context),
  };
}

async function vehicleLinks(context: Context, self: ResourceLink): Promise<Members> {
  const isFleet = context.side === 'fleet';
  return linksOf({
    self,
    ...(isFleet ? { fleet: linkTo(context, 'fleets.get') } : { user: linkTo(context, 'user.get') }),
    lastPosition: hasPosition(context) ? linkTo(context, 'lastPosition.get') : undefined,
    trips: linkTo(context, 'trips.list'),
    maintenance: (await nextService(context)) === undefined ? undefined : linkTo(context, 'maintenance.get'),
    alerts: linkTo(context, 'alerts.list'),
    status: linkTo(context, 'status.get'),
    telemetry: linkTo(context, 'telemetry.list'),
    collisions: linkTo(context, 'collisions.list'),
    alarms: linkTo(context, 'alarms.list'),
    monitors: linkTo(context, 'monitors.list', {}, isFleet ? [] : ['cbid']),
    remotes: linkTo(context, 'remotes.list', {}, ['cbid']),
    callbacks: linkTo(context, 'callbacks.list'),
    // Extensions of the published interface, in which no link refers to these resources.
    ...(isFleet ? { stolen: linkTo(context, 'stolen.list'), capabilities: linkTo(context, 'capabilities.get') } : {}),
  });
}

/** Returns the parts that `extension` requests. */
function embedded(context: Context): Members {
  const { call, car, side } = context;
  const asked = new Set(call.query['extension'] as readonly string[] | undefined);
  const extension: Members = {};
  if (asked.has('onboardCapabilities')) {
    extension['onboardCapabilities'] = onboardCapabilities(side, car.capabilities);
  }
  if (asked.has('branding')) {
    const { brand } = car.vehicle;
    const label = labelOf(context);
    extension['branding'] = defined({ brand, label });
  }
  const pictures = picturesOf(car.vehicle);
  if (asked.has('pictures') && pictures !== undefined) extension['pictures'] = pictures;
  return asked.size === 0 ? {} : { _embedded: { extension } };
}

function picturesOf({ pictures }: VehicleDescription): readonly string[] | undefined {
  return pictures === undefined || pictures.length === 0 ? undefined : pictures.slice(0, MAX_PICTURES);
}

/** Returns the label in the language of `locale`, or in a close one (RFC 4647 §3.4, lookup). */
function labelOf({ car, call }: Context): string | undefined {
  const { label } = car.vehicle;
  if (label === undefined || typeof label === 'string') return label;
  const byLanguage = new Map(Object.entries(label).map(([language, text]) => [language.toLowerCase(), text]));
  const subtags = String(call.query['locale'] ?? '')
    .toLowerCase()
    .split(/[-_]/);
  for (; subtags.length > 0; subtags.pop()) {
    const text = byLanguage.get(subtags.join('-'));
    if (text !== undefined) return text;
  }
  return byLanguage.get('default');
}

/** StolenCallCenter (interface 4.17.2) of the requested country. */
function callCenterOf({ car, call }: Context): Members {
  const countryCode = call.query['country'] as Country | undefined;
  const phoneNumber = countryCode === undefined ? undefined : car.vehicle.callCenters?.[countryCode];
  return phoneNumber === undefined ? {} : { callCenter: { stolen: { countryCode, phoneNumber } } };
}
