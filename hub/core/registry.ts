/** Registry: the cars of the hub, and the fleets and users that they belong to. */

export type OwnerKind = 'fleet' | 'user';

/** A fleet or a user that owns cars. */
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
  /** UTC ms. From then on the car may not connect. */
  readonly removed?: number;
  readonly fleets: readonly string[];
  readonly users: readonly string[];
}

/** A token that the hub issued to a person or a program. */
export interface IssuedToken {
  readonly id: string;
  /** Name in the audit trail. */
  readonly name: string;
  /** Fleets of the token. If omitted, the token is for the user `name`. */
  readonly fleets?: readonly string[];
  readonly scopes: readonly string[];
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  /** UTC ms. From then on the hub refuses the token. */
  readonly withdrawn?: number;
}

/** A certificate that the hub issued to a car. */
export interface IssuedCertificate {
  /** Hexadecimal. */
  readonly serial: string;
  readonly vin: string;
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  /** UTC ms. From then on the certificate is invalid. */
  readonly revoked?: number;
}

/** A car's request for a certificate, with the token that `vigie hub add` issued. */
export interface Enrolment {
  readonly vin: string;
  /** Digests of the token and of the car's public key, in hexadecimal. A token is valid for one key only. */
  readonly token: string;
  readonly key: string;
  /** UTC ms. */
  readonly at: number;
}

/** A forgotten car with retained messages to clear at the broker. */
export interface Erasure {
  readonly vin: string;
  /** Retained topics in addition to those that every car has. */
  readonly topics: readonly string[];
}

/**
 * While the registry contains no fleet and no user, it is not in use, and every car may send. As soon as it contains
 * one, only registered cars may send, even if all cars were forgotten.
 */
export interface Registry {
  inUse(): Promise<boolean>;
  /** Registers the car with these owners, in addition to its present ones. Admits a removed car again. */
  add(vin: string, owners: readonly Owner[], at: number): Promise<void>;
  /** Removes these owners from the car, which stays registered. Rejects with `request.unknown` for other cars. */
  leave(vin: string, owners: readonly Owner[], at: number): Promise<void>;
  /** Sets the digest of the car's password. If omitted, the car has no valid password. */
  setPassword(vin: string, digest: string | undefined): Promise<void>;
  password(vin: string): Promise<string | undefined>;
  /** Sets the digest of the one-time token, valid until `expires` (UTC ms). The previous token becomes invalid. */
  setToken(vin: string, digest: string, expires: number): Promise<void>;
  /** Returns true if the token is valid for the car and the key. The first use binds the token to its key. */
  takeToken(enrolment: Enrolment): Promise<boolean>;
  /** Stores a certificate and revokes the car's others except `kept`: without a response, a car repeats its request. */
  certify(certificate: IssuedCertificate, kept?: string): Promise<void>;
  certificate(serial: string): Promise<IssuedCertificate | undefined>;
  /**
   * Certificates that were revoked and have not expired at `now`, sorted by serial number. Includes those of forgotten
   * cars.
   */
  revoked(now: number): Promise<readonly Pick<IssuedCertificate, 'serial' | 'issued' | 'expires' | 'revoked'>[]>;
  /** Stores a token. Call before issuing it. Erases tokens that expired a month ago. */
  addToken(token: IssuedToken): Promise<void>;
  /** Sorted by time of issue. */
  tokens(): Promise<readonly IssuedToken[]>;
  /** Withdraws the token. Resolves with false if there is no such token or it was withdrawn before. */
  withdrawToken(id: string, at: number): Promise<boolean>;
  /** Ids of tokens that were not withdrawn. A hub admits no other tokens. */
  issuedTokens(): Promise<ReadonlySet<string>>;
  /** Blocks the car, revokes its certificates, keeps its data. Rejects with `request.unknown` if not registered. */
  remove(vin: string, at: number): Promise<void>;
  /**
   * Erases from the database files the car and all its messages in both directions, except the serial numbers of its
   * revoked certificates. The hub refuses the car until it is added again. Resolves with false if there was nothing to
   * erase.
   */
  forget(vin: string, at: number): Promise<boolean>;
  /** Returns true if the car was forgotten and not added again. The hub then refuses its messages. */
  isForgotten(vin: string): Promise<boolean>;
  /** Forgotten cars with topics that the broker may still retain. */
  erasures(): Promise<readonly Erasure[]>;
  /** Erases the VIN of a forgotten car. Call when the broker retains no more messages of the car. */
  cleared(vin: string): Promise<void>;
  /** Records that the broker may retain messages of a forgotten car again. Changes nothing for other cars. */
  clearAgain(vin: string): Promise<void>;
  /**
   * Ends the use of the registry: erases all registered cars, fleets and users, revokes certificates and withdraws
   * tokens. Keeps the data of the cars. Rejects with `usage.wrong` while a fleet or user has monitors, since these
   * would then apply to all cars.
   */
  end(at: number): Promise<void>;
  /** Sorted by VIN. */
  cars(): Promise<readonly RegisteredCar[]>;
  car(vin: string): Promise<RegisteredCar | undefined>;
  /** Sorted by id. */
  owners(kind: OwnerKind): Promise<readonly KnownOwner[]>;
  owns(owner: Owner, vin: string): Promise<boolean>;
  /** Returns a version number that changes whenever any hub or command changes the registry. */
  version(): Promise<number>;
}

/** Withdraws every token. @returns the number of withdrawn tokens */
export async function withdrawTokens(
  registry: Pick<Registry, 'issuedTokens' | 'withdrawToken'>,
  at: number,
): Promise<number> {
  const ids = await registry.issuedTokens();
  for (const id of ids) await registry.withdrawToken(id, at);
  return ids.size;
}
