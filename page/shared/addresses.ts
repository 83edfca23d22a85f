/** Fragments of the page's address: the cars of a hub with their views, and incidents. */

/** Page of a car at a hub. */
export function addressOfCar(vin: string, view = 'car'): string {
  return `#cars/${encodeURIComponent(vin)}/${view}`;
}

/** The car and the view in the address of a hub's page. A typed address may have neither. */
export function carOfAddress(hash: string): { readonly vin?: string; readonly view?: string } {
  const [, vin, view] = /^#cars\/((?:[^/%]|%[0-7][\da-f])+)(?:\/(\w+))?$/i.exec(hash) ?? [];
  return { ...(vin === undefined ? {} : { vin: decodeURIComponent(vin) }), ...(view === undefined ? {} : { view }) };
}

export const incidentKinds = ['Alert', 'Collision', 'Alarm', 'Theft'] as const;
export type IncidentKind = (typeof incidentKinds)[number];

/** Names an incident without the id of its record, which a notification may lack. */
export interface IncidentAddress {
  readonly vin: string;
  readonly kind: IncidentKind;
  /** UTC ms. */
  readonly at: number;
}

export function addressOfIncident({ vin, kind, at }: IncidentAddress): string {
  return `#incident/${encodeURIComponent(vin)}/${kind}/${at}`;
}

/** The incident in the address; undefined: the address is not one of an incident. */
export function incidentOfAddress(hash: string): IncidentAddress | undefined {
  const [, vin = '', named, at] = /^#incident\/((?:[^/%]|%[0-7][\da-f])+)\/(\w+)\/(\d{1,15})$/i.exec(hash) ?? [];
  const kind = incidentKinds.find((one) => one === named);
  return kind === undefined ? undefined : { vin: decodeURIComponent(vin), kind, at: Number(at) };
}
