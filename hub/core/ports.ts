/** Ports of the hub. Adapters implement them, and the code that builds a hub passes them in. */
import type { FailureCause } from '../../protocol/errors.ts';
import type { ExportContent } from '../../protocol/interface/own/message-pages.ts';
import type { ClassifiedTrip, TripClass } from '../../protocol/interface/own/trip-classes.ts';
import type { RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { Log } from '../../protocol/log-events.ts';
import type { Run } from '../../protocol/runs.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import type { HelloKey } from '../../protocol/schema/hello.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import type { DeliveryContents, KeptDeliveries } from './deliveries.ts';
import type { CarMessage, RefusedMessage } from './message.ts';
import type { NumbersExcess, NumbersReport } from './numbers.ts';
import type { Owner } from './registry.ts';
import type { VehicleStatus } from './vehicle-status.ts';

/** UTC milliseconds. */
export interface WallClock {
  now(): number;
}

/** Calls `due` once, `delay` ms from now; the result cancels it. */
export type Timer = (delay: number, due: () => void) => () => void;

/** Log of the hub. Its events are in the same table as those of the agent. */
export type HubLog = Log;

/** A car from which the hub has received messages. */
export interface KnownVehicle {
  readonly vin: string;
  /** UTC ms of the hub: arrival of the first message, and of the latest new message that the car itself sent. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

export interface VehicleWithStatus extends KnownVehicle {
  readonly status: VehicleStatus;
}

/** A new life of a car's folder of records. */
export interface BegunLife {
  readonly vin: string;
  /** `boot` of the first message of this life. */
  readonly first: number;
  /** Number of earlier lives. */
  readonly ordinal: number;
}

/** A car that exceeded the bounds of message numbers in one commit. */
export interface CarExcess extends NumbersExcess {
  readonly vin: string;
  readonly class: number;
}

/** Result of one commit. */
export interface Saved {
  /** Messages of the commit that were not stored before. */
  readonly fresh: readonly CarMessage[];
  /** VINs of cars that are not in the registry, if it is in use. Their messages are not stored. */
  readonly strangers: ReadonlySet<string>;
  /** VINs of cars that were removed from the registry. Their messages are not stored. */
  readonly removed: ReadonlySet<string>;
  /** VINs of forgotten cars that were not added again; in no other set. Their messages are not stored. */
  readonly forgotten: ReadonlySet<string>;
  /**
   * VINs of cars with older messages that wait for {@link MessageStore.takeIn}. The cars' new messages are not stored.
   * Omitted if there are none.
   */
  readonly held?: ReadonlySet<string>;
  /** Messages of `fresh` that have the same number as a message with different contents. Omitted if there are none. */
  readonly conflicts?: readonly CarMessage[];
  /** Lives of folders that follow an earlier life of the same car. Omitted if there are none. */
  readonly lives?: readonly BegunLife[];
  /** Classes in which cars exceeded the bounds of message numbers. If omitted, no car did. */
  readonly excess?: readonly CarExcess[];
  /** Messages whose telemetry cannot be stored as readings too. Omitted if each one can. */
  readonly unreadable?: readonly CarMessage[];
  /** Events that now wait for receivers. Omitted if there are none. */
  readonly deliveries?: KeptDeliveries;
}

export interface TakeInOptions {
  readonly limit: number;
  readonly now: number;
  readonly reason?: string;
}

/** Stores messages and, in the same commit, the numbers, records and Status that follow from them. */
export interface MessageStore {
  /**
   * Resolves when all messages are on disk. A message that is already stored (same vehicle, class, `seq`, `boot` and
   * bytes) changes nothing, and neither does a message that retention has removed. A message with a stored number but
   * different bytes is stored too, and returned in `conflicts`. Rejects with `store.failed`; then no message is
   * stored.
   */
  save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<Saved>;
  /**
   * Stores the oldest messages of a car that were kept aside, at most `limit`, as if they had arrived at `now` (UTC
   * ms), and no longer keeps them aside, in one commit. `reason`: if set, stores them as refused for this reason. Takes
   * none if the car may not send. Rejects as {@link save} does. @returns also the number of taken messages
   */
  takeIn(vin: string, options: TakeInOptions): Promise<Saved & { readonly taken: number; readonly refused: number }>;
  /** Returns true if {@link save} rejected because of the content of a message, so that a retry would fail again. */
  refuses(error: unknown): boolean;
}

/** Reads the cars of the hub and their message numbers. */
export interface NumbersStore {
  /** Sorted by VIN. */
  vehicles(): Promise<readonly KnownVehicle[]>;
  /** Lives of the folder of a car, oldest first. Empty for an unknown car. */
  lives(vin: string): Promise<readonly VehicleLife[]>;
  /** Numbers of each known class, sorted by class. Undefined for an unknown car. */
  numbers(vin: string): Promise<readonly VehicleNumbers[] | undefined>;
  /** Totals of all cars, without classes in which no number is missing. */
  missingNumbers(): Promise<readonly MissingNumbers[]>;
}

/** A life of a car's folder, identified by the first message of this life that a hub received. */
export interface VehicleLife {
  /** Number of earlier lives. The oldest ones are no longer stored. */
  readonly ordinal: number;
  /** `boot` of that message. */
  readonly first: number;
  /** Arrival of that message in UTC ms of the hub. */
  readonly since: number;
}

/** Count of missing numbers of one class, and count of cars that miss them. */
export interface MissingNumbers {
  readonly class: number;
  readonly numbers: number;
  readonly cars: number;
}

export interface VehicleNumbers extends NumbersReport {
  readonly class: number;
}

/** A record with its time and id, as in `StoredRecord` of the car's core. */
export interface HubRecord {
  readonly id: string;
  /** UTC ms. */
  readonly at: number;
  readonly record: unknown;
}

export interface FleetRecord extends HubRecord {
  readonly vin: string;
}

/** Position in a list: time and id of a record, or the VIN of a vehicle (`id` is the VIN, `at` is 0). */
export interface HubPosition {
  readonly at: number;
  readonly id: string;
}

/** Selects records and cars. Omitted fields select all. */
export interface FleetRecordsAsked {
  /** Only cars that belong to one of these owners. */
  readonly owners?: readonly Owner[] | undefined;
  readonly filter?: RecordFilter;
  /** Only the newest record of each car. */
  readonly newest?: boolean;
}

/** A part of a collection. Omitted bounds are open. Either `to` (inclusive) or `before` (exclusive) may be set. */
export interface HubRange {
  readonly from?: HubPosition;
  readonly to?: HubPosition;
  readonly before?: HubPosition;
}

/** Asks for the positions around a page of a range. */
export interface HubSurveyed {
  readonly range: HubRange;
  /** Number of last positions. */
  readonly size: number;
  /** Position in the range that separates what comes before the page. If omitted, nothing does. */
  readonly cursor?: HubPosition;
}

/** All fields are of the same time. */
export interface HubSurvey {
  readonly total: number;
  readonly first: HubPosition | undefined;
  /** Last positions, the last one first. */
  readonly last: readonly HubPosition[];
  /** Number of entries before the cursor, and position of the first entry at or after it. */
  readonly before: number;
  readonly next: HubPosition | undefined;
}

/** Returns the name of a car in addresses. The same VIN always has the same name. */
export type IdOf = (vin: string) => string;

/** A collection that is read part by part along its index. */
export interface HubKeyset<T extends HubPosition> {
  survey(asked: HubSurveyed): Promise<HubSurvey>;
  /** Returns the position after `skip` entries. Reads positions only. `backwards`: counts from the end. */
  nth(range: HubRange, skip: number, backwards?: boolean): Promise<HubPosition | undefined>;
  /** Returns the first `limit` entries; if `backwards`, the last ones in reverse order. */
  read(range: HubRange, limit: number, backwards?: boolean): Promise<readonly T[]>;
}

/** A stored message of a car, for an export. */
export interface StoredMessage {
  readonly class: number;
  readonly seq: number;
  /** Number of the start at the hub ({@link ./lives.ts}). */
  readonly boot: number;
  readonly kind: Kind;
  /** UTC ms; of a piece of a series the corrected time of its first reading. */
  readonly at: number;
  /** Correction of its start in ms; 0 if there was none. */
  readonly behind: number;
  /** Omitted if the message is not wanted. */
  readonly payload?: Uint8Array;
}

/** Selects messages: those of a content, and of a period if they are pieces of series, have their payload. */
export interface MessagesAsked {
  readonly content: ExportContent;
  readonly from?: number;
  readonly to?: number;
  readonly after?: { readonly class: number; readonly seq: number; readonly boot: number };
  readonly limit: number;
}

/** Reads committed data that cars have sent. All hubs on a database see the same data. */
export interface VehicleReader {
  /** Sorted by VIN. */
  vehicles(): Promise<readonly KnownVehicle[]>;
  vehicle(vin: string): Promise<KnownVehicle | undefined>;
  /** Returns the Status of the car, or undefined if there is no such car. */
  status(vin: string): Promise<VehicleStatus | undefined>;
  record(vin: string, collection: string, id: string): Promise<HubRecord | undefined>;
  /** Records with `from` ≤ at < `to`, ascending by time, then by id. Does not load all of them into memory at once. */
  records(vin: string, collection: string, from?: number, to?: number): AsyncIterable<HubRecord>;
  lastRecord(vin: string, collection: string): Promise<HubRecord | undefined>;
  /** Keyset of the list {@link records}, filtered by `filter`. Series have no filter. */
  recordKeys(vin: string, collection: string, filter?: RecordFilter): HubKeyset<HubRecord>;
  /** Returns a car with its Status. Calls in the same turn of the event loop share a statement. */
  view(vin: string): Promise<VehicleWithStatus | undefined>;
  /** Returns the car with this {@link IdOf id}. */
  viewById(id: string): Promise<VehicleWithStatus | undefined>;
  /** Cars with a VIN that starts with `prefix`, sorted by VIN. `owners`: only cars that belong to one of them. */
  vehicleKeys(prefix: string, owners?: readonly Owner[]): HubKeyset<HubPosition & { readonly vehicle: KnownVehicle }>;
  /** Records of all cars except series, sorted by time, id and car. Positions are valid in this list only. */
  fleetRecordKeys(collection: string, asked?: FleetRecordsAsked): HubKeyset<FleetRecord>;
  /** Messages by class, number and start, at most `limit`. */
  messages(vin: string, asked: MessagesAsked): Promise<readonly StoredMessage[]>;
  /** Parts of the captures that a car has made. */
  captureParts(vin: string): AsyncIterable<Capture>;
  /** Returns the record of any car with this id. `owners`: only cars that belong to one of them. */
  fleetRecord(collection: string, id: string, owners?: readonly Owner[]): Promise<FleetRecord | undefined>;
}

/** Classes that drivers gave to trips. */
export interface TripClassStore {
  /** Sets the class of a trip, or removes it with null. @returns false if there is no such trip */
  setTripClass(vin: string, trip: string, to: TripClass | null): Promise<boolean>;
  /** Trips with a class and an id after `after`, by id, at most `limit`. */
  tripClasses(vin: string, after: string, limit: number): Promise<readonly ClassifiedTrip[]>;
}

/** A car with its latest values. */
export interface VehicleSummary extends KnownVehicle {
  /** UTC ms of the hub: arrival of the latest message, whether from the car itself or retained by the broker. */
  readonly changed: number;
  readonly contents: StatusContents;
  /** Count of numbers of all classes that neither arrived nor were given up. */
  readonly missing: number;
}

/** A message with its position in the order of arrival at the hubs. */
export interface ArrivedMessage {
  readonly id: number;
  readonly vin: string;
  /** UTC ms of the hub. */
  readonly received: number;
  readonly message: Message;
}

/** Selects the cars of events. Omitted fields select all. */
export interface EventScope {
  readonly vin?: string | undefined;
  readonly owners?: readonly Owner[] | undefined;
}

export interface EventRange {
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

/** Reads all cars at once, for tables. All hubs on a database see the same data. */
export interface OverviewReader {
  countVehicles(): Promise<number>;
  /** Cars that changed at `since` or later, with a VIN after `after`, sorted by VIN, at most `limit`. */
  summaries(since: number, after: string, limit: number): Promise<readonly VehicleSummary[]>;
  /** Messages that may contain an event, with `after` < id < `before`, newest first, at most `limit`. */
  arrived(asked: EventScope & EventRange): Promise<readonly ArrivedMessage[]>;
}

/** Changes of a commit that viewers may follow. */
export interface News {
  /** Cars with a changed Status or description. */
  readonly vins: readonly string[];
  /** Ids of messages that may contain an event ({@link ArrivedMessage.id}). */
  readonly events: readonly number[];
}

export interface NewsListener {
  arrived(news: News): void;
  /** There may have been commits without news. The listener must read everything that it follows again. */
  missed(): void;
}

/** Notifies listeners after each commit of messages by any hub on the same database. */
export interface HubNews {
  /** Returns a function that removes the listener. */
  listen(listener: NewsListener): () => void;
}

/** Missing numbers of one class of a car for which a resend request is due. */
export interface DueNumbers {
  readonly vin: string;
  readonly class: number;
  readonly missing: readonly Run[];
  /** Due time in UTC ms. */
  readonly due: number;
  /** Number of times that a request became due since no number was missing; 0 at the first time. */
  readonly attempts: number;
  /** Count of missing messages at the last request to the car; 0 before the first request. */
  readonly requested: number;
  /** Arrival of the latest message of the car in UTC ms of the hub. */
  readonly lastSeen: number;
}

/** Schedule shared by all hubs: which messages to request from which cars, and when. */
export interface ResendStore {
  /** Returns entries that are due at `now`, oldest first, at most `limit`. */
  dueNumbers(now: number, limit: number): Promise<readonly DueNumbers[]>;
  /** Sets the next due time. Resolves with false and changes nothing if another hub has just done so. */
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
  /** Time of the request, and time when the command expires in the car, in UTC ms. */
  readonly requested: number;
  readonly expires: number;
  /** Id of the signing key, hexadecimal. */
  readonly key: string;
  /** Omitted if the command was not sent through a callback. */
  readonly through?: CallbackOrder;
}

/** Details of a command that was sent through a callback. The callback receives its states. */
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

/** A state of a command that the car reported. */
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
  /** Signed command as sent (COSE_Sign1). */
  readonly signed: Uint8Array;
  readonly states: readonly CommandState[];
}

/** The audit trail. {@link MessageStore.save} stores what cars report about commands. */
export interface CommandStore {
  /**
   * Stores a command and the result of `seal` in one commit. `seal` receives the next counter for the key and the car,
   * which is above all previous counters and not below `requested`. If the id exists, changes nothing. Rejects with
   * `request.unknown` for a car without messages, with `store.failed`, and with the errors of `seal`.
   */
  add(command: NewCommand, seal: (counter: number) => Uint8Array): Promise<{ kept: KeptCommand; isNew: boolean }>;
  /** Commands without a final state that have not expired at `now`, sorted by expiry, then by counter. */
  pending(vin: string, now: number): Promise<readonly KeptCommand[]>;
  command(vin: string, id: string): Promise<KeptCommand | undefined>;
  /** At most 100 commands older than `before`, newest first. Rejects with `input.malformed` if that id is unknown. */
  commands(vin: string, before?: string): Promise<readonly KeptCommand[]>;
  /** Id of the key that signed the newest answered command, among the newest 100; undefined if none was answered. */
  answeredKey(vin: string): Promise<string | undefined>;
  /** The newest list of trusted keys that the car reported; undefined if it never reported one. */
  trustedKeys(vin: string): Promise<readonly HelloKey[] | undefined>;
  /** Commands that were sent to a car through a callback: the newest 256, or only the one with this id. */
  throughCallback(vin: string, callbackId: string, id?: string): Promise<readonly CallbackCommand[]>;
}

/** Locks that only one hub on a database can hold at a time. A hub that dies loses its locks. */
export interface HubLocks {
  /** Identifies the database: the same for all hubs that share it. Undefined if only this hub uses the database. */
  place(): Promise<string | undefined>;
  /**
   * Resolves when this hub holds the lock. Resolves with undefined if another hub holds it for longer than `patience`
   * ms, or when `signal` aborts. Rejects with `store.failed` if the database cannot be reached.
   */
  acquire(
    name: string,
    options: { readonly patience?: number; readonly signal?: AbortSignal },
  ): Promise<HeldLock | undefined>;
}

export interface HeldLock {
  /** Resolves with a reason when the database no longer holds the lock for this hub. */
  readonly lost: Promise<string>;
  release(): Promise<void>;
}
