/** Records of the car, read from its published interface: the newest of each kind, page by page, up to a limit. */
import { store } from './car-store.ts';
import { askJson, carNow, Refused, sideOfCredentials } from './connection.ts';

interface Link {
  readonly href: string;
}

export interface Collection {
  readonly _links: { readonly last: Link; readonly next?: Link; readonly prev?: Link };
  readonly total: number;
  readonly _embedded: Readonly<Record<string, readonly unknown[]>>;
}

export interface Energy {
  readonly type: string;
  readonly level?: number;
  readonly consumption?: number;
  readonly avgConsumption?: number;
}

export interface Feature {
  readonly geometry: { readonly coordinates: readonly number[] };
  readonly properties: {
    readonly createdAt: string;
    readonly heading?: number;
    readonly speed?: number;
    readonly gap?: boolean;
  };
}

export interface TripJson {
  readonly _links: { readonly waypoints?: Link; readonly telemetry?: Link };
  readonly id: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly stoppedAt?: string;
  readonly done?: boolean;
  readonly distance?: number;
  readonly energyConsumptions?: readonly Energy[];
  readonly startEnergies?: readonly Energy[];
  readonly stopEnergies?: readonly Energy[];
  readonly kinetic?: { readonly avgSpeed?: number; readonly maxSpeed?: number };
  readonly faults?: readonly { readonly fault?: string; readonly cause?: string }[];
}

/** Fields of alerts, collisions, alarms and thefts. */
export interface EventJson {
  readonly id: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endAt?: string;
  readonly type?: string;
  readonly severity?: string;
  readonly details?: readonly { readonly side?: string; readonly severity?: string }[];
  readonly status?: { readonly activation: string };
  readonly trigger?: { readonly type: string; readonly startAt: string };
  readonly origin?: string;
}

export interface ServiceJson {
  readonly createdAt: string;
  readonly daysBeforeMaintenance?: number;
  readonly mileageBeforeMaintenance?: number;
}

export interface FaultJson {
  readonly id: string;
  readonly active: boolean;
  readonly code: string;
  readonly unit: string;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly text?: string;
}

export interface CaptureJson {
  readonly id: string;
  readonly cause: string;
  readonly of: string;
  readonly monitorId?: string;
  readonly from: string;
  readonly to: string;
  readonly frames: number;
  readonly complete: boolean;
}

export interface SampleJson {
  readonly createdAt: string;
  readonly vehicle?: {
    readonly kinetic?: { readonly speed?: number };
    readonly energies?: readonly Energy[];
  };
}

/** Newest items, ascending by time, and the total number of items. */
export interface Newest<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Largest number of pages to read from one collection. */
const MAX_PAGES = 5;

/** Returns, by name, the links of the vehicle's resources, without those that the reader may not see. */
export async function vehicleLinks(): Promise<Readonly<Record<string, string>>> {
  const vin = store.car?.vin ?? (await askJson<{ readonly vin: string }>('/vigie/v1/car')).vin;
  const lists =
    sideOfCredentials() === 'user'
      ? ['/user/vehicles']
      : itemsOf<{ readonly _links: { readonly vehicles?: Link } }>(await askJson<Collection>('/fleets')).flatMap(
          ({ _links }) => (_links.vehicles === undefined ? [] : [pathOf(_links.vehicles)]),
        );
  for (const list of lists) {
    const vehicles = itemsOf<{ readonly vin: string; readonly _links: Readonly<Record<string, Link>> }>(
      await askJson<Collection>(`${list}?vinPrefix=${encodeURIComponent(vin)}`),
    );
    const found = vehicles.find((one) => one.vin === vin);
    if (found === undefined) continue;
    return Object.fromEntries(Object.entries(found._links).map(([name, link]) => [name, pathOf(link)]));
  }
  throw new Refused(404, `None of the vehicles that you may see has the VIN ${vin}.`, undefined);
}

/** Returns the speeds that the car recorded in the last `span` ms, oldest first. */
export async function readSpeeds(span: number): Promise<(readonly [at: number, speed: number])[]> {
  const { telemetry } = await vehicleLinks();
  if (telemetry === undefined) throw new Refused(403, 'You may not read telemetry.', undefined);
  const from = encodeURIComponent(`${new Date(carNow() - span).toISOString()}/`);
  const { items } = await newestOf<SampleJson>(`${telemetry}?timestamps=${from}&pageSize=60`);
  return items.flatMap(({ createdAt, vehicle }) => {
    const speed = vehicle?.kinetic?.speed;
    return speed === undefined ? [] : [[Date.parse(createdAt), speed] as const];
  });
}

/** Reads backwards from the newest page, at most `most` pages. */
export async function newestOf<T>(path: string, most = MAX_PAGES): Promise<Newest<T>> {
  const first = await askJson<Collection>(path);
  if (first._links.next === undefined) return { items: itemsOf(first), total: first.total };
  const pages: (readonly T[])[] = [];
  let next: Link | undefined = first._links.last;
  while (next !== undefined && pages.length < most) {
    const page: Collection = await askJson<Collection>(pathOf(next));
    pages.unshift(itemsOf(page));
    next = page._links.prev;
  }
  return { items: pages.flat(), total: first.total };
}

/** Returns the address on the server of this page, without credentials: each request adds them. */
export function pathOf({ href }: Link): string {
  const url = new URL(href, location.href);
  url.searchParams.delete('client_id');
  return `${url.pathname}${url.search}`;
}

/** Returns the list in a page. Some responses contain it under two names. */
export function itemsOf<T>({ _embedded }: Collection): readonly T[] {
  return (Object.values(_embedded)[0] ?? []) as readonly T[];
}
