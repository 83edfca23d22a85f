/** Which cars belong to the hub, to which fleets and to which users. */

export type OwnerKind = 'fleet' | 'user';

/** A fleet or a user, to whom cars belong. */
export interface Owner {
  readonly kind: OwnerKind;
  readonly id: string;
}

export interface KnownOwner extends Owner {
  /** UTC ms. */
  readonly created: number;
}

export interface RegisteredCar {
  readonly vin: string;
  /** UTC ms. */
  readonly added: number;
  /** UTC ms; since then the car may not connect. */
  readonly removed?: number;
  readonly fleets: readonly string[];
  readonly users: readonly string[];
}

/**
 * While there is no fleet and no user in it, the registry is not in use: every car may send. From the first on, only
 * registered cars may, also when all of them were forgotten.
 */
export interface Registry {
  inUse(): Promise<boolean>;
  /** Registers the car, with those whom it belongs to beside those of before; a removed car is let in again. */
  add(vin: string, owners: readonly Owner[], at: number): Promise<void>;
  /** Keeps the data of the car and blocks it. Rejects with `request.unknown` for a car that is not registered. */
  remove(vin: string, at: number): Promise<void>;
  /**
   * Erases the car and everything that it sent or was sent from the files of the database.
   * False: nothing of it was there.
   */
  forget(vin: string): Promise<boolean>;
  /** By VIN. */
  cars(): Promise<readonly RegisteredCar[]>;
  car(vin: string): Promise<RegisteredCar | undefined>;
  /** By id. */
  owners(kind: OwnerKind): Promise<readonly KnownOwner[]>;
  owns(owner: Owner, vin: string): Promise<boolean>;
  /** Another number after each change, by whatever hub or command. */
  version(): Promise<number>;
}
