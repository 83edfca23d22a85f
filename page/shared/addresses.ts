/** Fragments of the page's address: the cars of a hub with their views, and incidents. */

/** Returns the address of a car's page at a hub. */
export function addressOfCar(vin: string, view = 'car'): string {
  return `#cars/${encodeURIComponent(vin)}/${view}`;
}

/** Returns the car and the view in the address of a hub's page. Either may be missing if a person typed the address. */
export function carOfAddress(hash: string): { readonly vin?: string; readonly view?: string } {
  const [, vin, view] = /^#cars\/((?:[^/%]|%[0-7][\da-f])+)(?:\/(\w+))?$/i.exec(hash) ?? [];
  return { ...(vin === undefined ? {} : { vin: decodeURIComponent(vin) }), ...(view === undefined ? {} : { view }) };
}

export const incidentKinds = ['Alert', 'Collision', 'Alarm', 'Theft'] as const;
export type IncidentKind = (typeof incidentKinds)[number];

/** Identifies an incident without the id of its record, which a notification may not contain. */
export interface IncidentAddress {
  readonly vin: string;
  readonly kind: IncidentKind;
  /** UTC ms. */
  readonly at: number;
}

export function addressOfIncident({ vin, kind, at }: IncidentAddress): string {
  return `#incident/${encodeURIComponent(vin)}/${kind}/${at}`;
}

/** Returns the incident in the address, or undefined if there is none. */
export function incidentOfAddress(hash: string): IncidentAddress | undefined {
  const [, vin = '', named, at] = /^#incident\/((?:[^/%]|%[0-7][\da-f])+)\/(\w+)\/(\d{1,15})$/i.exec(hash) ?? [];
  const kind = incidentKinds.find((one) => one === named);
  return kind === undefined ? undefined : { vin: decodeURIComponent(vin), kind, at: Number(at) };
}
