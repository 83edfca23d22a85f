/** Rights of a client of the embedded broker: a car publishes and subscribes under its own VIN only. */

/** Credentials of a connecting client. */
export interface ShownIdentity {
  readonly clientId: string;
  readonly username?: string;
  readonly password?: string;
  /** Its certificate in DER, over TLS. */
  readonly certificate?: Uint8Array;
}

/** A car with its VIN, or a client that may do everything. */
export type ClientRights = { readonly vin: string } | 'all';

/** From the car: its messages and its presence, of whatever version of the protocol. */
export function mayPublish(rights: ClientRights, topic: string): boolean {
  if (rights === 'all') return true;
  const [root, , vin, direction, ...rest] = topic.split('/');
  if (root !== 'vigie' || vin !== rights.vin) return false;
  return direction === 'up' ? rest.length > 0 : direction === 'presence' && rest.length === 0;
}

/** To the car: filters that match nothing but what is sent to it. */
export function maySubscribe(rights: ClientRights, filter: string): boolean {
  if (rights === 'all') return true;
  const [root, version = '', vin, direction] = filter.split('/');
  return root === 'vigie' && /^\d+$/.test(version) && vin === rights.vin && direction === 'down';
}

/** Whether the client id is that of the car: a session of another car has what was sent to that. */
export function mayUseSession(rights: ClientRights, clientId: string): boolean {
  return rights === 'all' || clientId === rights.vin;
}
