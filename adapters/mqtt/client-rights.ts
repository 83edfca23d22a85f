/** Rights of a client of the embedded broker: a car publishes and subscribes under its own VIN only. */

/** Credentials of a connecting client. */
export interface ShownIdentity {
  readonly clientId: string;
  readonly username?: string;
  readonly password?: string;
  /** The client's certificate in DER, if the connection uses TLS and the client has one. */
  readonly certificate?: Uint8Array;
}

/** A car, identified by its VIN, or a client that may do everything. */
export type ClientRights = { readonly vin: string } | 'all';

/** Returns true if the topic is for the car's own messages or presence, in any version of the protocol. */
export function mayPublish(rights: ClientRights, topic: string): boolean {
  if (rights === 'all') return true;
  const [root, , vin, direction, ...rest] = topic.split('/');
  if (root !== 'vigie' || vin !== rights.vin) return false;
  return direction === 'up' ? rest.length > 0 : direction === 'presence' && rest.length === 0;
}

/** Returns true if the filter matches only messages to this car. */
export function maySubscribe(rights: ClientRights, filter: string): boolean {
  if (rights === 'all') return true;
  const [root, version = '', vin, direction] = filter.split('/');
  return root === 'vigie' && /^\d+$/.test(version) && vin === rights.vin && direction === 'down';
}

/** Returns true if the client id is that of the car: another car's session contains messages to that car. */
export function mayUseSession(rights: ClientRights, clientId: string): boolean {
  return rights === 'all' || clientId === rights.vin;
}
