/** Substitutes variables in a notification's attributes, and groups the attributes by their place in the request. */
import type { Addressee } from '../../agent/callbacks/destination.ts';
import type { Notification } from '../../agent/callbacks/notification.ts';
import { type Attribute, type Variable, variableOf } from '../../protocol/schema/callback/attributes.ts';
import { type BodyAttributes, type NamedVehicle, namedFleet } from './notification.ts';

/** The attributes of a message. Messages whose envelopes are equal can be sent in one request. */
export interface NotificationEnvelope {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [key: string, value: string])[];
  readonly body: BodyAttributes;
}

/** Returns the attributes with variables replaced. If two have the same place and name, the later one is used. */
export function envelopeOf(
  attributes: readonly Attribute[],
  vehicle: NamedVehicle,
  addressee: Addressee,
  notification: Notification,
): NotificationEnvelope {
  const values = valuesOf(vehicle, addressee, notification);
  const headers: Record<string, string> = {};
  const query = new Map<string, string>();
  const body = new Map<string, string>();
  for (const { type, key, value: given } of attributes) {
    const variable = variableOf(given);
    const value = variable === undefined ? given : (values[variable] ?? '');
    // Header names are case-insensitive (RFC 9110 §5.1).
    if (type === 'Header') headers[key.toLowerCase()] = headerValue(value);
    else (type === 'Query' ? query : body).set(key, value);
  }
  return { headers, query: [...query], body: [...body].map(([key, value]) => ({ key, value })) };
}

function valuesOf(
  vehicle: NamedVehicle,
  { callbackId, label }: Addressee,
  notification: Notification,
): Partial<Record<Variable, string>> {
  const { vin, vid } = vehicle;
  const fleetid = namedFleet(
    vehicle,
    notification.type === 'Monitor' ? notification.event.monitorId : (callbackId ?? ''),
  );
  const around = { vin, vid, fleetid, callbackid: callbackId ?? '', callbacklabel: label ?? '' };
  if (notification.type === 'Monitor') {
    return { ...around, monitorid: notification.event.monitorId, monitorlabel: notification.label ?? '' };
  }
  const { type, status } = notification.report;
  return { ...around, remotetype: type, remotestatus: status, remotelabel: notification.label ?? '' };
}

/** Encodes a label, which may contain any characters, for a header: percent-encodes all but visible ASCII. */
function headerValue(value: string): string {
  return value.replace(/[^\x20-\x7e]+/gu, (text) => encodeURIComponent(text));
}
