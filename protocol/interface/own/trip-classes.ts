/** Classes of trips for a logbook, which the hub keeps. */

export const tripClasses = ['business', 'private', 'commute'] as const;
export type TripClass = (typeof tripClasses)[number];

export interface ClassifiedTrip {
  readonly id: string;
  readonly class: TripClass;
}

/** Answer of `GET /vigie/v1/vehicles/{vin}/trip-classes`. */
export interface TripClassesPage {
  /** In the order of the ids. */
  readonly trips: readonly ClassifiedTrip[];
  /** True if more trips follow the last one. */
  readonly more: boolean;
}
