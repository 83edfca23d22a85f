/** Which cars belong to the hub, to which fleets and to which users. */

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
  /** UTC ms; since then the car may not connect. */
  readonly removed?: number;
  readonly fleets: readonly string[];
  readonly users: readonly string[];
}

/** A token that the hub gave a person or a program. */
export interface IssuedToken {
  readonly id: string;
  /** In the audit trail. */
  readonly name: string;
  /** Either fleets, or the user that is `name`. */
  readonly fleets?: readonly string[];
  readonly scopes: readonly string[];
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  /** UTC ms; since then it is not accepted. */
  readonly withdrawn?: number;
}

/** A certificate that the hub gave a car. */
export interface IssuedCertificate {
  /** Hexadecimal. */
  readonly serial: string;
  readonly vin: string;
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  /** UTC ms; since then it is not accepted. */
  readonly revoked?: number;
}

/** Asks for a certificate with the token that `vigie hub add` gave. */
export interface Enrolment {
  readonly vin: string;
  /** Digest of the token, and of the public key of the car: a token is for one key. Hexadecimal. */
  readonly token: string;
  readonly key: string;
  /** UTC ms. */
  readonly at: number;
}

/** A forgotten car with retained messages to clear at the broker. */
export interface Erasure {
  readonly vin: string;
  /** Retained topics beyond those of every car. */
  readonly topics: readonly string[];
}

/**
 * While there is no fleet and no user in it, the registry is not in use: every car may send. From the first on, only
 * registered cars may, also when all of them were forgotten.
 */
export interface Registry {
  inUse(): Promise<boolean>;
  /** Registers the car with these owners, in addition to the present ones. A removed car is admitted again. */
  add(vin: string, owners: readonly Owner[], at: number): Promise<void>;
  /** The car belongs to these no longer; it stays registered. Rejects with `request.unknown` for a car that is not registered. */
  leave(vin: string, owners: readonly Owner[], at: number): Promise<void>;
  /** The digest of the password with which the car connects; absent: the car has no valid password. */
  setPassword(vin: string, digest: string | undefined): Promise<void>;
  password(vin: string): Promise<string | undefined>;
  /** Digest of the one-time token, valid until `expires` (UTC ms). The previous token becomes invalid. */
  setToken(vin: string, digest: string, expires: number): Promise<void>;
  /** Whether the token is good for the car and the key; from the first time on it is good for no other key. */
  takeToken(enrolment: Enrolment): Promise<boolean>;
  /** Stores a new certificate. Revokes those of the car except `kept`: a request with a lost answer is repeated. */
  certify(certificate: IssuedCertificate, kept?: string): Promise<void>;
  certificate(serial: string): Promise<IssuedCertificate | undefined>;
  /** Revoked certificates that have not expired at `now`, also of cars that were forgotten; by serial number. */
  revoked(now: number): Promise<readonly Pick<IssuedCertificate, 'serial' | 'issued' | 'expires' | 'revoked'>[]>;
  /** Keeps a token before anybody has it; tokens that expired a month ago are forgotten. */
  addToken(token: IssuedToken): Promise<void>;
  /** By the time at which they were issued. */
  tokens(): Promise<readonly IssuedToken[]>;
  /** False: there is no such token, or it was withdrawn before. */
  withdrawToken(id: string, at: number): Promise<boolean>;
  /** Ids of tokens that were not withdrawn; a hub admits no other. */
  issuedTokens(): Promise<ReadonlySet<string>>;
  /** Keeps the data of the car and blocks it; its certificates are revoked. Rejects with `request.unknown` for a car that is not registered. */
  remove(vin: string, at: number): Promise<void>;
  /**
   * Erases the car and everything that it sent or was sent from the files of the database.
   * The numbers of its revoked certificates stay. The car stays refused until it is added again. False:
   * nothing of it was there.
   */
  forget(vin: string, at: number): Promise<boolean>;
  /** Whether the car was forgotten and not added again: its messages are refused. */
  isForgotten(vin: string): Promise<boolean>;
  /** Forgotten cars of which the broker may still retain something. */
  erasures(): Promise<readonly Erasure[]>;
  /** The broker retains nothing of the forgotten car: erases its VIN. */
  cleared(vin: string): Promise<void>;
  /** The broker may retain something of a forgotten car again; changes nothing for other cars. */
  clearAgain(vin: string): Promise<void>;
  /**
   * Erases all registered cars, fleets and users, revokes certificates and withdraws tokens: the registry is no longer in use.
   * The data of the cars stay. Rejects with `usage.wrong` while a fleet or user has monitors, which would then be for all cars.
   */
  end(at: number): Promise<void>;
  /** By VIN. */
  cars(): Promise<readonly RegisteredCar[]>;
  car(vin: string): Promise<RegisteredCar | undefined>;
  /** By id. */
  owners(kind: OwnerKind): Promise<readonly KnownOwner[]>;
  owns(owner: Owner, vin: string): Promise<boolean>;
  /** Another number after each change, by whatever hub or command. */
  version(): Promise<number>;
}

/** Withdraws every token. @returns how many were not withdrawn before */
export async function withdrawTokens(
  registry: Pick<Registry, 'issuedTokens' | 'withdrawToken'>,
  at: number,
): Promise<number> {
  const ids = await registry.issuedTokens();
  for (const id of ids) await registry.withdrawToken(id, at);
  return ids.size;
}
