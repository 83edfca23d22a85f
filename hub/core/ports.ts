/** Ports of the hub. Adapters implement them, and the code that builds a hub passes them in. */
import type { FailureCause } from '../../protocol/errors.ts';
import type { RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { Log } from '../../protocol/log-events.ts';
import type { Run } from '../../protocol/runs.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import type { DeliveryContents, KeptDeliveries } from './deliveries.ts';
import type { CarMessage, RefusedMessage } from './message.ts';
import type { NumbersReport } from './numbers.ts';
import type { Owner } from './registry.ts';
import type { VehicleStatus } from './vehicle-status.ts';

/** UTC milliseconds. */
export interface WallClock {
  now(): number;
}

/** Calls `due` once, `delay` ms from now; the result cancels it. */
export type Timer = (delay: number, due: () => void) => () => void;

/** Takes the events of the hub, which are rows of the same table as the agent's. */
export type HubLog = Log;

/** A car with messages at the hub. */
export interface KnownVehicle {
  readonly vin: string;
  /** UTC ms of the hub: its first message, and its latest new one that the car itself sent. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** A life of a car's folder of records. */
export interface BegunLife {
  readonly vin: string;
  /** `boot` of its first message. */
  readonly first: number;
}

/** Result of one commit. */
export interface Saved {
  /** Those of its messages that were not there before. */
  readonly fresh: readonly CarMessage[];
  /** VINs of cars that the registry does not let send ({@link ./registry.ts}); nothing of theirs is kept. */
  readonly strangers: ReadonlySet<string>;
  /** VINs of cars that were forgotten and not added again; nothing of theirs is kept, and they are not strangers. */
  readonly forgotten: ReadonlySet<string>;
  /** Messages of `fresh` with a number that another message with other contents has. Omitted if there are none. */
  readonly conflicts?: readonly CarMessage[];
  /** Lives of folders that began after others of the same car, with the `boot` of their first message; omitted if there are none. */
  readonly lives?: readonly BegunLife[];
  /** Events that now wait for receivers; absent: none. */
  readonly deliveries?: KeptDeliveries;
}

/** Keeps messages, and in the same commit what they say of numbers, records and Status. */
export interface MessageStore {
  /**
   * Resolves when all of them are on disk. A message that is there already, by vehicle, class, `seq`, `boot` and bytes,
   * changes nothing; nor does one that retention has removed. Other bytes under one number are stored too, and returned
   * among the `conflicts`. Rejects with `store.failed`, and then none of them is kept.
   */
  save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<Saved>;
  /** Whether {@link save} rejected with this error because of the content of a message, and so would reject it again. */
  refuses(error: unknown): boolean;
}

/** Reports of the hub on its cars. */
export interface NumbersStore {
  /** By VIN. */
  vehicles(): Promise<readonly KnownVehicle[]>;
  /** Lives of the folder of a car, the newest last; empty for an unknown car. */
  lives(vin: string): Promise<readonly VehicleLife[]>;
  /** Numbers of each known class, in the order of the classes. Undefined for an unknown car. */
  numbers(vin: string): Promise<readonly VehicleNumbers[] | undefined>;
  /** Sums of all cars, without classes that miss nothing. */
  missingNumbers(): Promise<readonly MissingNumbers[]>;
}

/** A life of a car's folder, by the first message of it that a hub received. */
export interface VehicleLife {
  /** `boot` of the message. */
  readonly first: number;
  /** UTC ms of the hub. */
  readonly since: number;
}

/** How many numbers of one class are missing, and of how many cars. */
export interface MissingNumbers {
  readonly class: number;
  readonly numbers: number;
  readonly cars: number;
}

export interface VehicleNumbers extends NumbersReport {
  readonly class: number;
}

/** A record, its time and its id, as `StoredRecord` of the car's core has them. */
export interface HubRecord {
  readonly id: string;
  /** UTC ms */
  readonly at: number;
  readonly record: unknown;
}

export interface FleetRecord extends HubRecord {
  readonly vin: string;
}

/** Where something stands: records by time and id, vehicles by VIN (`id`; `at` is 0). */
export interface HubPosition {
  readonly at: number;
  readonly id: string;
}

/** Which records of which cars; absent members do not choose. */
export interface FleetRecordsAsked {
  /** Cars that belong to one of them. */
  readonly owners?: readonly Owner[] | undefined;
  readonly filter?: RecordFilter;
  /** Only the newest record of each car. */
  readonly newest?: boolean;
}

/** A part of a collection; absent bounds do not bound. `to` belongs to it, `before` does not; only one of them is there. */
export interface HubRange {
  readonly from?: HubPosition;
  readonly to?: HubPosition;
  readonly before?: HubPosition;
}

/** The name of a car in addresses, from its VIN; always the same. */
export type IdOf = (vin: string) => string;

/** A collection, read along its index part by part. */
export interface HubKeyset<T extends HubPosition> {
  count(range: HubRange): Promise<number>;
  /** The place after leaving out `skip`; nothing but places is read. `backwards`: counted from the end. */
  nth(range: HubRange, skip: number, backwards?: boolean): Promise<HubPosition | undefined>;
  /** The first `limit`; `backwards`: the last, the last of all first. */
  read(range: HubRange, limit: number, backwards?: boolean): Promise<readonly T[]>;
}

/** Reads what cars have sent, as committed; every hub on the same database sees the same. */
export interface VehicleReader {
  /** By VIN. */
  vehicles(): Promise<readonly KnownVehicle[]>;
  vehicle(vin: string): Promise<KnownVehicle | undefined>;
  /** Undefined: no such car. */
  status(vin: string): Promise<VehicleStatus | undefined>;
  record(vin: string, collection: string, id: string): Promise<HubRecord | undefined>;
  /** Those with `from` ≤ at < `to`, ascending by time, then by id; not all of them are in memory at once. */
  records(vin: string, collection: string, from?: number, to?: number): AsyncIterable<HubRecord>;
  lastRecord(vin: string, collection: string): Promise<HubRecord | undefined>;
  /** Parts of the list of {@link records}, filtered by `filter`. Series have no filter. */
  recordKeys(vin: string, collection: string, filter?: RecordFilter): HubKeyset<HubRecord>;
  /** The car with this {@link IdOf id}. */
  vehicleById(id: string): Promise<KnownVehicle | undefined>;
  /** Cars with a VIN that begins like this, by VIN. `owners`: only cars that belong to one of them. */
  vehicleKeys(prefix: string, owners?: readonly Owner[]): HubKeyset<HubPosition & { readonly vehicle: KnownVehicle }>;
  /** Records of all cars, by time, then by id, then by car. Places belong to this list only. No series. */
  fleetRecordKeys(collection: string, asked?: FleetRecordsAsked): HubKeyset<FleetRecord>;
  /** Parts of captures, as a car has made them. */
  captureParts(vin: string): AsyncIterable<Capture>;
  /** Record of any car with this id. `owners`: only cars that belong to one of them. */
  fleetRecord(collection: string, id: string, owners?: readonly Owner[]): Promise<FleetRecord | undefined>;
}

/** A car with its latest values. */
export interface VehicleSummary extends KnownVehicle {
  /** UTC ms of the hub: the latest message, of the car itself or retained by the broker. */
  readonly changed: number;
  readonly contents: StatusContents;
  /** Numbers of all classes that did not arrive and were not given up. */
  readonly missing: number;
}

/** A message with its place in the order in which the hubs took messages in. */
export interface ArrivedMessage {
  readonly id: number;
  readonly vin: string;
  /** UTC ms of the hub. */
  readonly received: number;
  readonly message: Message;
}

/** Cars that events are of; absent members do not choose. */
export interface EventScope {
  readonly vin?: string | undefined;
  readonly owners?: readonly Owner[] | undefined;
}

export interface EventRange {
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

/** Reads all cars at once, for a table of them; every hub on the same database sees the same. */
export interface OverviewReader {
  countVehicles(): Promise<number>;
  /** Cars that changed at `since` or later, with a VIN after `after`, in that order, at most `limit`. */
  summaries(since: number, after: string, limit: number): Promise<readonly VehicleSummary[]>;
  /** Messages that may contain an event, with `after` < id < `before`, at most `limit`, the newest first. */
  arrived(asked: EventScope & EventRange): Promise<readonly ArrivedMessage[]>;
}

/** Changes of a commit that viewers may follow. */
export interface News {
  /** Cars with a changed Status. */
  readonly vins: readonly string[];
  /** Messages that may contain an event, by {@link ArrivedMessage.id}. */
  readonly events: readonly number[];
}

export interface NewsListener {
  arrived(news: News): void;
  /** There may have been commits without news: the listener reads again what it follows. */
  missed(): void;
}

/** Notifies of every commit of messages of all hubs on the same database, after the commit. */
export interface HubNews {
  /** The result ends it. */
  listen(listener: NewsListener): () => void;
}

/** Numbers of one class of a car that are missing, when it is time to ask the car for their messages. */
export interface DueNumbers {
  readonly vin: string;
  readonly class: number;
  readonly missing: readonly Run[];
  /** UTC ms since when it is time. */
  readonly due: number;
  /** How often the time had come since nothing was missing; 0: it comes for the first time. */
  readonly attempts: number;
  /** Number of missing messages at the last request to the car. 0: no request yet. */
  readonly requested: number;
  /** UTC ms of the hub: the latest message of the car. */
  readonly lastSeen: number;
}

/** Shared schedule of all hubs: which cars to ask for which messages, and when. */
export interface ResendStore {
  /** Entries that are due at `now`, the oldest first, at most `limit`. */
  dueNumbers(now: number, limit: number): Promise<readonly DueNumbers[]>;
  /** When it is time again. Resolves with false, and changes nothing, when another hub has just done so. */
  putOff(one: DueNumbers, next: Pick<DueNumbers, 'due' | 'attempts' | 'requested'>): Promise<boolean>;
}

/** A submitted command. */
export interface NewCommand {
  readonly id: string;
  readonly vin: string;
  readonly type: CommandKind;
  readonly body: object;
  /** Caller of the request. */
  readonly caller: string;
  /** UTC ms: time of the request, and end of its validity in the car. */
  readonly requested: number;
  readonly expires: number;
  /** Id of the key that signs it, hexadecimal. */
  readonly key: string;
  /** Omitted for a command that was not sent through a callback. */
  readonly through?: CallbackOrder;
}

/** A command that was sent through a callback, which receives its states. */
export interface CallbackOrder {
  readonly owner: Owner;
  readonly callbackId: string;
  /** Request in the form of the interface (Remote). */
  readonly remote: Readonly<Record<string, unknown>>;
  /** Attributes that the command adds to the notifications of its states. */
  readonly contents: DeliveryContents;
}

/** A command with its request. */
export type CallbackCommand = KeptCommand & Pick<CallbackOrder, 'remote'>;

/** A state that the car has reported. */
export interface CommandState {
  readonly status: RemoteStatus;
  readonly failureCause?: FailureCause;
  readonly detail?: string;
  /** UTC ms of the car. */
  readonly at: number;
}

/** A command in the audit trail, with the reported states, oldest first. */
export interface KeptCommand extends NewCommand {
  readonly counter: number;
  /** As it is sent (COSE_Sign1). */
  readonly signed: Uint8Array;
  readonly states: readonly CommandState[];
}

/** The audit trail. Reports of cars on commands arrive with {@link MessageStore.save}. */
export interface CommandStore {
  /**
   * Keeps a command and what `seal` makes of it with the next counter of its key and car, in one commit: above every
   * counter given before, and not below `requested`. An id that is there already changes nothing. Rejects with
   * `request.unknown` for a car that was never heard, `store.failed`, and what `seal` throws.
   */
  add(command: NewCommand, seal: (counter: number) => Uint8Array): Promise<{ kept: KeptCommand; isNew: boolean }>;
  /** Those that have no final state and have not expired at `now`; what expires first comes first, then by counter. */
  pending(vin: string, now: number): Promise<readonly KeptCommand[]>;
  command(vin: string, id: string): Promise<KeptCommand | undefined>;
  /** At most 100, the newest first, those before the one with the id `before`. Rejects with `input.malformed` for an id that is not there. */
  commands(vin: string, before?: string): Promise<readonly KeptCommand[]>;
  /** Commands that were sent to a car through a callback: the newest 256, or the one with this id. */
  throughCallback(vin: string, callbackId: string, id?: string): Promise<readonly CallbackCommand[]>;
}

/** Locks that one hub of those on the same database holds at a time; a hub that dies loses its own. */
export interface HubLocks {
  /** The same for all hubs that share the database, and for no others; undefined: this hub has it alone. */
  place(): Promise<string | undefined>;
  /**
   * Resolves when this hub holds the lock; undefined when another has held it for all of `patience`, ms, or on `signal`.
   * Rejects with `store.failed` where the database cannot be reached.
   */
  acquire(
    name: string,
    options: { readonly patience?: number; readonly signal?: AbortSignal },
  ): Promise<HeldLock | undefined>;
}

export interface HeldLock {
  /** Resolves with the reason when the database no longer keeps it for this hub. */
  readonly lost: Promise<string>;
  release(): Promise<void>;
}
