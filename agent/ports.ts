/**
 * Interfaces of the core to the outside. Each is named after its ability and has one or two methods. Adapters
 * implement them and `assembly/` passes them in, so that two agents fit in one process and tests use their own.
 */
import type { Body, BodyKind } from '../protocol/schema/message.ts';

export type { Log } from '../protocol/log-events.ts';

/** Wall and monotonic time, and the only timer that the core may use. */
export interface Clock {
  /** UTC milliseconds; may step when the time becomes known. */
  now(): number;
  /** Milliseconds that never step; origin is arbitrary. */
  monotonic(): number;
  /** Calls `due` once, after `delay` ms of monotonic time. Returns a function that cancels the call. */
  after(delay: number, due: () => void): () => void;
}

/** Bits of {@link FrameBatch.id} in addition to the 29-bit identifier, as in SocketCAN's `can_id` (linux/can.h). */
export const EXTENDED = 0x8000_0000;
export const REMOTE = 0x4000_0000;
export const ERROR = 0x2000_0000;

/** Bits of {@link FrameBatch.flags}. */
export const FD = 1;
export const BIT_RATE_SWITCH = 2;
export const ERROR_STATE = 4;
/** The frame was sent by this node, not received. */
export const SENT = 8;

/**
 * Frames as columns, reused for each batch: nothing is allocated per frame. Payloads are stored one after the
 * other in `data`, each at an `offset` that is a multiple of 8 and padded with zeros to the next such multiple.
 */
export interface FrameBatch {
  /** Number of valid frames. */
  count: number;
  /** UTC milliseconds with fraction. */
  readonly at: Float64Array;
  /** Identifier with EXTENDED, REMOTE and ERROR bits; unsigned. */
  readonly id: Uint32Array;
  /** Index in the list of bus names of the source. */
  readonly bus: Uint8Array;
  readonly flags: Uint8Array;
  /** Payload length in bytes, 0..64. */
  readonly length: Uint8Array;
  readonly offset: Uint32Array;
  readonly data: Uint8Array;
}

/** Emits frames until it is stopped. A source restarts automatically with back-off; it never throws into the core. */
export interface FrameSource {
  /** Names of the buses that {@link FrameBatch.bus} indexes; grows while reading a log. */
  readonly buses: readonly string[];
  /** `receive` must not use the batch after it returns. */
  start(receive: (batch: FrameBatch) => void): Promise<void>;
  stop(): Promise<void>;
  readonly health?: () => SourceHealth;
}

/** Report of a live source. */
export interface SourceHealth {
  readonly state: 'opening' | 'running' | 'waiting';
  /** Reason for the wait. */
  readonly reason?: string;
  /** Counts since the start by name, e.g. `frames`, `dropped`, `errors`, `restarts`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A signal requested from a decoder or source. Its position in the request is the index of its readings. */
export interface WantedSignal {
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** True if its values are strings. If omitted, they are numbers. */
  readonly text?: true;
}

/**
 * Emits readings that are not frames, such as fixes and answers to polls. Restarts automatically with back-off; never
 * throws into the core.
 */
export interface ReadingSource {
  /** True for a device off the car's buses, e.g. a separate receiver: its data does not mean that the car is awake. */
  readonly apart?: boolean;
  /** Delivers the wanted signals that it provides and ignores the others. */
  start(wanted: readonly WantedSignal[], sink: ReadingSink): Promise<void>;
  stop(): Promise<void>;
  readonly health?: () => SourceHealth;
}

/** A bidirectional byte stream: a serial line or a TCP connection. */
export interface Line {
  /** Resolves when the operating system has accepted the bytes; rejects with `input.unreadable` if the line is gone. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface LineEvents {
  /** The receiver may keep the bytes. */
  data(bytes: Uint8Array): void;
  /** Called once, when the line ended other than by `close`; the line cannot be used again. */
  closed(reason: string): void;
}

/** Opens a line; rejects with `input.unreadable`. The caller opens a lost line again, with back-off. */
export type OpenLine = (events: LineEvents) => Promise<Line>;

/** One frame to put on a bus. */
export interface OutgoingFrame {
  readonly bus: string;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Sends frames on a bus; rejects if the bus does not accept them. */
export interface FrameSender {
  send(frame: OutgoingFrame): Promise<void>;
}

/** Receives decoded readings. `signal` is the index in the decoder's list of wanted signals. */
export interface ReadingSink {
  /** `value` is physical, `raw` the integer before scaling (the IEEE value for float signals). */
  reading(signal: number, value: number, raw: number, at: number): void;
  /** Receives a reading of a signal with string values. If omitted, no such signal was requested. */
  text?(signal: number, text: string, at: number): void;
  /** Called when all readings of one frame (or fix, or answer) have been delivered. */
  settled(at: number): void;
  /** Called when a frame that carries `signals` was repeated unchanged: its signals are still current. */
  alive(signals: readonly number[], at: number): void;
}

/**
 * Values in the frames of one batch, as columns: nothing is called or allocated per value. `i` counts the frames with
 * wanted signals, in the order of the batch.
 */
export interface BatchReadings {
  /** Number of frames with wanted signals. */
  readonly count: number;
  /** Physical values of all frames; see {@link begin}. */
  readonly values: Float64Array;
  /** The integers before scaling (IEEE values of float signals), in the order of `values`. */
  readonly raws: Float64Array;
  /** Index in the batch of the `i`th frame. */
  frame(i: number): number;
  /** Number of the frame's signal list, from 0 without gaps, constant for the decoder's life. Negative: no list. */
  list(i: number): number;
  /** The wanted signals of the frame, as indexes in the decoder's list. */
  signals(i: number): readonly number[];
  /** Index of the value of its first signal; negative if all values equal those of the previous frame. */
  begin(i: number): number;
  /** Distance between the indexes of the values of successive signals. */
  step(i: number): number;
}

/** Decodes frames into readings of the signals it was built for. */
export interface FrameDecoder {
  decode(batch: FrameBatch, sink: ReadingSink): void;
  /** Returns the same readings as columns, for callers that process many values. Valid until the next call. */
  read?(batch: FrameBatch): BatchReadings;
}

/** A frame by its name in the network description, before a bus is chosen. */
export interface NamedFrame {
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Packs and unpacks frames by message and signal name; values are physical (value-table names are accepted). */
export interface MessageCodec {
  /** Omitted signals get the raw value 0. Throws a VigieError for an unknown message, signal or value out of range. */
  encode(message: string, values: Readonly<Record<string, number | string>>): NamedFrame;
  /** Returns undefined if no message has this identifier. */
  decode(
    frame: NamedFrame,
  ): { readonly message: string; readonly signals: Readonly<Record<string, number>> } | undefined;
}

/** A message on its way to the cloud. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
  /** Seconds after which the broker may drop the message. If omitted, never. */
  readonly expiry?: number;
  /** MQTT 5 correlation data, echoed from the command that this answers. */
  readonly correlation?: Uint8Array;
}

/** The connection to the broker. Has no queue: the outbox sends unacknowledged messages again. */
export interface Link {
  readonly connected: boolean;
  /** Resolves on the broker's acknowledgement (QoS 1); rejects with a VigieError if the link is lost before. */
  publish(message: OutgoingMessage): Promise<void>;
}

/** Notifications of the link to the core. */
export interface LinkEvents {
  up(): void;
  down(reason: string): void;
  /**
   * Called when a message arrives on one of the car's own down topics. Its size is already bounded. `retained`: true if
   * the broker had kept the message for an unknown time; default false.
   */
  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined, retained?: boolean): void;
}

/** An unacknowledged message, without its content. */
export interface OutboxReference {
  /** Priority class, 0 first (protocol/classes.ts). */
  readonly class: number;
  /** Sequence number within the class, never reset. */
  readonly seq: number;
  readonly kind: string;
  /** UTC milliseconds of the message. */
  readonly at: number;
  readonly retain: boolean;
  /** Length of the payload in bytes. */
  readonly bytes: number;
}

/** An unacknowledged message. */
export interface OutboxEntry extends Omit<OutboxReference, 'bytes'> {
  readonly payload: Uint8Array;
  readonly correlation?: Uint8Array;
}

/** Numbers of one class, as ascending runs. Each run has its first and last number. */
export interface OwedNumbers {
  readonly class: number;
  readonly numbers: readonly (readonly [first: number, last: number])[];
}

/**
 * Stores data that must survive a power cut. `append` and `acknowledge` take effect in memory at once and are on disk
 * when a later `commit` resolves; several calls share one commit. A backlog is not held in memory: the content of an
 * entry is read when it is to be sent.
 */
export interface OutboxStore {
  /** True for a store without a disk: an appended entry never becomes safer, so no commit is awaited. */
  readonly volatile?: boolean;
  /** Entries not yet acknowledged, oldest first within a class. */
  entries(): Iterable<OutboxReference>;
  /** Returns metadata of an entry, or undefined if it does not exist or was acknowledged. Does not read the disk. */
  reference(priorityClass: number, seq: number): OutboxReference | undefined;
  /**
   * Returns the complete entry, or undefined if it does not exist or is damaged. Throws `store.failed` if the disk
   * cannot be read now.
   */
  load(priorityClass: number, seq: number): OutboxEntry | undefined;
  /** Returns the next free sequence number of a class. Never returns a number again, even after a loss of data. */
  nextSeq(priorityClass: number): number;
  /** Returns the lowest unacknowledged number of a class, or undefined. */
  firstWaiting(priorityClass: number): number | undefined;
  /** Total size in bytes of the unacknowledged entries. */
  readonly bytes: number;
  append(entry: OutboxEntry): void;
  acknowledge(priorityClass: number, seq: number): void;
  /** Removes an entry that will never be sent. Its number stays {@link owed}, across restarts. */
  giveUp(priorityClass: number, seq: number): void;
  /**
   * Numbers that were assigned, have no entry, and were neither acknowledged nor {@link gapKnown}: their messages were
   * given up, or lost to disk damage.
   */
  owed(): Iterable<OwedNumbers>;
  /** Call when the receiver has acknowledged the gap message of these numbers: they are no longer owed. */
  gapKnown(numbers: OwedNumbers): void;
  /**
   * Searches the messages still on disk, acknowledged ones included, for those that `wants` selects. Each step reads
   * a bounded piece and returns its matches; a message may be returned more than once. A step throws `store.failed` if
   * the disk cannot read the piece. Omitted if the store keeps no acknowledged message.
   */
  find?(wants: (priorityClass: number, seq: number) => boolean): Iterator<readonly OutboxEntry[]>;
  /** Files in which damage was found when the store was opened. */
  readonly damagedFiles?: readonly string[] | undefined;
  /** Resolves when all entries appended or acknowledged before the call are on disk. */
  commit(): Promise<void>;
}

/**
 * State of the core's parts that survives a power cut, in the same commit as the outbox: after a cut, state and
 * messages have the same age.
 */
export interface Memory {
  /**
   * True if damage that no power cut causes may have lost commits: recalled values may be older than the last stored.
   * Only one start reports the damage: once something was committed after it, later starts do not.
   */
  readonly damaged?: boolean;
  /** Last value stored under `key`: data of CBOR's types, which must not be changed. Undefined if there is no value. */
  recall(key: string): unknown;
  /**
   * Every commit calls `states` synchronously with the messages that it contains. Only values that differ from the
   * previous commit are written; undefined deletes the key. If the same frozen object is returned again, it counts as
   * unchanged at every depth.
   */
  keep(states: () => Iterable<readonly [key: string, value: unknown]>): void;
}

/** A record of the car that clients can read: trips, alerts and so on by id, time series by time. */
export interface StoredRecord {
  readonly id: string;
  /** UTC milliseconds; collections are ordered by this. */
  readonly at: number;
  /** The record, as its schema defines it. */
  readonly record: unknown;
}

/** Collections of records, each with its retention; written in the same commit as the outbox. */
export interface RecordStore {
  /** Adds a record or replaces the record with the same id. */
  put(collection: string, record: StoredRecord): void;
  get(collection: string, id: string): StoredRecord | undefined;
  /** Records with `from` ≤ at < `to`, ascending by time, then by id. */
  list(collection: string, from?: number, to?: number): Iterable<StoredRecord>;
}

/** A record on the disk, and its number in its collection. */
export interface NumberedRecord {
  readonly number: number;
  /** Undefined if the record is damaged. */
  readonly stored: StoredRecord | undefined;
}

/**
 * The records of collections in the order of their numbers, which are never used again, for readers that resume. Only
 * records on the disk are visible: a power cut frees the number of any other record. A changed record gets a new number.
 */
export interface NumberedRecords {
  /** Yields the records from number `from` on, ascending. Throws `store.failed` if the disk cannot be read now. */
  from(collection: string, from: number): Iterable<NumberedRecord>;
  /** Returns the number after the last visible record. */
  end(collection: string): number;
  /** Returns how many numbers from `from` and below `to` retention has deleted. */
  expired(collection: string, from: number, to: number): number;
}

/** Accepts messages for publication from recorders and commands. */
export interface Publisher {
  /** Queues a message; it is on disk with the next group commit. Failures are logged and retried, never thrown. */
  put<K extends BodyKind>(kind: K, body: Body<K>, options?: PutOptions): void;
  /**
   * Queues a message and resolves when it is on disk, for messages that must be durable before the next step.
   * Rejects with `store.failed` if the disk refuses the write; the message is still published, unless it is
   * `durable`.
   */
  secure<K extends BodyKind>(kind: K, body: Body<K>, options?: PutOptions): Promise<void>;
}

export interface PutOptions {
  readonly retain?: boolean;
  /** Sent before all other waiting messages: the newest status after an outage. */
  readonly first?: boolean;
  readonly correlation?: Uint8Array;
  /** Never sent from memory: if the disk refuses it, its number is abandoned and reported by a gap message. */
  readonly durable?: true;
}

/** A small document that is stored as a whole: read once, replaced atomically. */
export interface Document<T> {
  readonly data: T;
  /** Replaces the document; resolves when it is on disk. */
  write(data: T): Promise<void>;
}

/** Parameters of an actuation, such as the positions of a destination. Data of CBOR's types. */
export type ActionParameters = Readonly<Record<string, unknown>>;

/** Makes the car do something; resolves when the frames are sent, not when the car has carried out the action. */
export interface Actuator {
  /** Actions that the profile names under `commands`, e.g. `doors.lock`. */
  readonly actions: ReadonlySet<string>;
  /**
   * Rejects with a VigieError if the action is unknown, its parameters are invalid, or the bus does not accept it.
   * `allowed` throws the reason why the car must no longer be touched: a slow action calls it before each frame. An
   * action that had already begun then rejects with a `BrokenOff` (actuators.ts).
   */
  actuate(action: string, parameters?: ActionParameters, allowed?: () => void): Promise<void>;
  /** Returns true if the bus that the action needs sleeps, though others may be active. Omitted for a single bus. */
  asleep?(action: string): boolean;
}

/** Verifies signatures with the keys that the car trusts. */
export interface SignatureVerifier {
  /** Returns the algorithm, rights and name of a trusted key, or undefined if the key is unknown. */
  key(
    id: Uint8Array,
  ): { readonly algorithm: number; readonly kinds: readonly string[]; readonly name?: string } | undefined;
  verify(id: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** Returns the fingerprint of a message, by a hash without known collisions (SHA-256). Much cheaper than `verify`. */
  digest(message: Uint8Array): string;
  /** Returns the reason why a key is not trusted, for the log. */
  why?(id: Uint8Array): string;
}

/** A key to be trusted. */
export interface NewKey {
  readonly name: string;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  readonly kinds: readonly string[];
  /** Start of validity, UTC ms. If omitted, no limit. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** Changes the keys that the car trusts. Calls resolve when the change is on disk. A repeated call changes nothing. */
export interface TrustKeeper {
  /** Throws `input.malformed` for an invalid key, `command.forbidden` if the name is taken or the key was revoked. */
  add(key: NewKey): Promise<void>;
  /**
   * Revokes a key permanently: it cannot be added again. Throws `input.unknown` for an unknown key, `command.forbidden`
   * if no key that may change keys would be left.
   */
  revoke(id: Uint8Array): Promise<void>;
}
