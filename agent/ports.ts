/**
 * Ports of the core to the outside. Each port is named by its ability and has one or two methods; adapters
 * implement them and `assembly/` passes them in, so that two agents fit in one process and tests bring their own.
 */
import type { Body, BodyKind } from '../protocol/schema/message.ts';

export type { Log } from '../protocol/log-events.ts';

/** Wall and monotonic time, and the only timer the core may use. */
export interface Clock {
  /** UTC milliseconds; may step when the time becomes known. */
  now(): number;
  /** Milliseconds that never step; origin is arbitrary. */
  monotonic(): number;
  /** Calls `due` once, `delay` ms of monotonic time from now; the result cancels it. */
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
 * Frames as columns, reused from batch to batch: nothing is allocated per frame. Payloads lie one after the
 * other in `data`, each at an `offset` that is a multiple of 8 and padded with zeros to the next such multiple.
 */
export interface FrameBatch {
  /** Number of frames that are valid. */
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

/** Emits frames until it is stopped. A source restarts itself with back-off; it never throws into the core. */
export interface FrameSource {
  /** Names of the buses that {@link FrameBatch.bus} indexes; grows while reading a log. */
  readonly buses: readonly string[];
  /** `receive` must be done with the batch when it returns. */
  start(receive: (batch: FrameBatch) => void): Promise<void>;
  stop(): Promise<void>;
  readonly health?: () => SourceHealth;
}

/** Report of a live source. */
export interface SourceHealth {
  readonly state: 'opening' | 'running' | 'waiting';
  /** Why it waits. */
  readonly reason?: string;
  /** Counts since the start by name, e.g. `frames`, `dropped`, `errors`, `restarts`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A signal requested from a decoder or source. Its position in the request is the index of its readings. */
export interface WantedSignal {
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** Its values are texts; absent: numbers. */
  readonly text?: true;
}

/**
 * Gives readings that are not frames, such as fixes and answers to polls. Restarts itself with back-off; never throws
 * into the core.
 */
export interface ReadingSource {
  /** It is not on the car's buses, as a receiver of its own: that it speaks does not say that the car is awake. */
  readonly apart?: boolean;
  /** Delivers what it has of the signals wanted; others are none of its concern. */
  start(wanted: readonly WantedSignal[], sink: ReadingSink): Promise<void>;
  stop(): Promise<void>;
  readonly health?: () => SourceHealth;
}

/** Bytes both ways: a serial line or a TCP connection. */
export interface Line {
  /** Resolves when the system has taken the bytes; rejects with `input.unreadable` when the line is gone. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface LineEvents {
  /** The bytes may be kept. */
  data(bytes: Uint8Array): void;
  /** Called once, when the line ended other than by `close`; it is of no further use. */
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

/** Puts frames on a bus; rejects when the bus does not take them. */
export interface FrameSender {
  send(frame: OutgoingFrame): Promise<void>;
}

/** Where a decoder delivers: the signal's index in the decoder's list of wanted signals. */
export interface ReadingSink {
  /** `value` is physical, `raw` the integer before scaling (the IEEE value for float signals). */
  reading(signal: number, value: number, raw: number, at: number): void;
  /** A reading of a signal with text values. If omitted, no such signal was requested. */
  text?(signal: number, text: string, at: number): void;
  /** All readings of one frame (or fix, or answer) have been delivered. */
  settled(at: number): void;
  /** A frame that carries `signals` came again unchanged: they are alive. */
  alive(signals: readonly number[], at: number): void;
}

/**
 * Values in the frames of one batch, as columns: nothing is called or allocated per value. `i` counts the frames that
 * carry wanted signals, in the order of the batch.
 */
export interface BatchReadings {
  /** Frames that carry wanted signals. */
  readonly count: number;
  /** Physical values of all of them; see {@link begin}. */
  readonly values: Float64Array;
  /** As `values`: the integers before scaling (IEEE values of float signals). */
  readonly raws: Float64Array;
  /** Index in the batch of the `i`th frame. */
  frame(i: number): number;
  /** Number of its list of signals, dense, 0 first: as long as the decoder lives the same list. Negative: it has none. */
  list(i: number): number;
  /** The wanted signals it carried, as indexes of the decoder's list. */
  signals(i: number): readonly number[];
  /** Where the value of its first signal is; negative when all values are those of the frame before. */
  begin(i: number): number;
  /** How far the value of the next signal is from that of the one before. */
  step(i: number): number;
}

/** Turns frames into readings of the signals it was built for. */
export interface FrameDecoder {
  decode(batch: FrameBatch, sink: ReadingSink): void;
  /** The same as columns, for who works through many values; valid until the next call. */
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
  /** Signals left out get their raw 0. Throws a VigieError for an unknown message, signal or value out of range. */
  encode(message: string, values: Readonly<Record<string, number | string>>): NamedFrame;
  /** Undefined when no message has this identifier. */
  decode(
    frame: NamedFrame,
  ): { readonly message: string; readonly signals: Readonly<Record<string, number>> } | undefined;
}

/** A message on its way to the cloud. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
  /** Seconds after which the broker may drop it; absent: never. */
  readonly expiry?: number;
  /** MQTT 5 correlation data, echoed from the command that this answers. */
  readonly correlation?: Uint8Array;
}

/** The way to the broker. Keeps no queue: what is not acknowledged is the outbox's to send again. */
export interface Link {
  readonly connected: boolean;
  /** Resolves on the broker's acknowledgement (QoS 1); rejects with a VigieError when the link is lost before. */
  publish(message: OutgoingMessage): Promise<void>;
}

/** Notifications of the link to the core. */
export interface LinkEvents {
  up(): void;
  down(reason: string): void;
  /** A message on one of the car's own down topics, its size already bounded. */
  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined): void;
}

/** A message that waits for its acknowledgement, without its content. */
export interface OutboxReference {
  /** Priority class, 0 first (protocol/classes.ts). */
  readonly class: number;
  /** Sequence number within the class, counted for ever. */
  readonly seq: number;
  readonly kind: string;
  /** UTC milliseconds of the message. */
  readonly at: number;
  readonly retain: boolean;
  /** Length of the payload. */
  readonly bytes: number;
}

/** One message that waits for its acknowledgement. */
export interface OutboxEntry extends Omit<OutboxReference, 'bytes'> {
  readonly payload: Uint8Array;
  readonly correlation?: Uint8Array;
}

/** Numbers of one class, as ascending runs from the first to the last of each. */
export interface OwedNumbers {
  readonly class: number;
  readonly numbers: readonly (readonly [first: number, last: number])[];
}

/**
 * Keeps what must outlive a power cut. `append` and `acknowledge` take effect in memory at once and are on disk
 * when a later `commit` resolves; several calls share one commit. A backlog is not held in memory: what an entry
 * says is read when it is to be sent.
 */
export interface OutboxStore {
  /** True for a store without a disk: what was appended is as safe as it will ever be, no commit is awaited. */
  readonly volatile?: boolean;
  /** Entries not yet acknowledged, oldest first within a class. */
  entries(): Iterable<OutboxReference>;
  /** Facts of an entry. Undefined if it does not exist or was acknowledged. Reads no disk. */
  reference(priorityClass: number, seq: number): OutboxReference | undefined;
  /**
   * The entry whole; undefined when it is not there or what was kept of it is damaged. Throws `store.failed` when the
   * disk does not give it now.
   */
  load(priorityClass: number, seq: number): OutboxEntry | undefined;
  /** The next free sequence number of a class; never one that was used before, whatever was lost. */
  nextSeq(priorityClass: number): number;
  /** Lowest unacknowledged number of a class, or undefined. */
  firstWaiting(priorityClass: number): number | undefined;
  /** Bytes that the unacknowledged entries take. */
  readonly bytes: number;
  append(entry: OutboxEntry): void;
  acknowledge(priorityClass: number, seq: number): void;
  /** Removes an entry that will never be sent. Its number stays {@link owed}, across restarts. */
  giveUp(priorityClass: number, seq: number): void;
  /**
   * Numbers that were given out, are in no entry, and were neither acknowledged nor {@link gapKnown}: their messages were
   * given up, or damage of the disk took them.
   */
  owed(): Iterable<OwedNumbers>;
  /** The receiver acknowledged the gap message of these numbers: they are owed no more. */
  gapKnown(numbers: OwedNumbers): void;
  /**
   * Searches what is still on the disk, acknowledged messages included, for those that `wants` says. Each step reads a
   * bounded piece and gives what it found there; a message may come more than once. A step throws `store.failed` when the
   * disk does not give its piece. Absent: the store keeps no message that was acknowledged.
   */
  find?(wants: (priorityClass: number, seq: number) => boolean): Iterator<readonly OutboxEntry[]>;
  /** Files in which damage was found when the store was opened. */
  readonly damagedFiles?: readonly string[] | undefined;
  /** Resolves when everything appended or acknowledged before the call is on disk. */
  commit(): Promise<void>;
}

/**
 * State of the core's parts that outlives a power cut, in the same commit as the outbox: after a cut, state and
 * messages are of one moment.
 */
export interface Memory {
  /**
   * Commits may be lost, by damage that no power cut makes: what is recalled may not be what was kept last. Damage is
   * found by one start only: it has no part in this once something was committed after it.
   */
  readonly damaged?: boolean;
  /** Last value stored under `key`: data of CBOR's types, which must not be changed. Undefined if there is no value. */
  recall(key: string): unknown;
  /**
   * `states` is asked at every commit, synchronously with the messages that go into it. What is written is only what
   * differs from before; a value undefined forgets the key. A frozen value that is given again is taken to be as it was,
   * in all its depth.
   */
  keep(states: () => Iterable<readonly [key: string, value: unknown]>): void;
}

/** A record of the car as it is kept for readers: trips, alerts and so on by id, series by time. */
export interface StoredRecord {
  readonly id: string;
  /** UTC milliseconds; the order of a collection. */
  readonly at: number;
  /** The record as its schema has it. */
  readonly record: unknown;
}

/** Collections of records, each with its retention; put in the same commit as the outbox. */
export interface RecordStore {
  /** Adds a record or replaces the one with its id. */
  put(collection: string, record: StoredRecord): void;
  get(collection: string, id: string): StoredRecord | undefined;
  /** Records with `from` ≤ at < `to`, ascending by time, then by id. */
  list(collection: string, from?: number, to?: number): Iterable<StoredRecord>;
}

/** Where recorders and commands put what is to be published. */
export interface Publisher {
  /** Queues a message; it is on disk with the next group commit. Failures are logged and retried, never thrown. */
  put<K extends BodyKind>(kind: K, body: Body<K>, options?: PutOptions): void;
  /**
   * Queues a message and resolves when it is on disk, for what must be durable before the next step is taken.
   * Rejects with `store.failed` when the disk refuses; the message is published all the same, unless it is to be
   * `durable`.
   */
  secure<K extends BodyKind>(kind: K, body: Body<K>, options?: PutOptions): Promise<void>;
}

export interface PutOptions {
  readonly retain?: boolean;
  /** Sent before all other waiting messages: the newest status after an outage. */
  readonly first?: boolean;
  readonly correlation?: Uint8Array;
  /** Never sent from memory: if the disk refuses it, its number is given up and a gap message reports that. */
  readonly durable?: true;
}

/** A small document that is kept whole: read once, replaced atomically. */
export interface Document<T> {
  readonly data: T;
  /** Replaces the document; resolves when it is on disk. */
  write(data: T): Promise<void>;
}

/** Parameters of an actuation, such as the positions of a destination. Data of CBOR's types. */
export type ActionParameters = Readonly<Record<string, unknown>>;

/** Makes the car do something; resolves when the frames are out, not when the car has obeyed. */
export interface Actuator {
  /** Those the profile names under `commands`, e.g. `doors.lock`. */
  readonly actions: ReadonlySet<string>;
  /**
   * Rejects with a VigieError when the action is unknown, its parameters do not fit, or the bus does not take it.
   * `allowed` throws why the car must not be touched any more: what needs time asks it again before each frame. What was
   * begun by then rejects with a `BrokenOff` (actuators.ts).
   */
  actuate(action: string, parameters?: ActionParameters, allowed?: () => void): Promise<void>;
  /** The bus that the action needs sleeps, though others may talk; absent: the car is one bus. */
  asleep?(action: string): boolean;
}

/** Checks a signature; the key is one the car trusts. */
export interface SignatureVerifier {
  /** The algorithm, rights and name of a trusted key, or undefined when the key is unknown. */
  key(
    id: Uint8Array,
  ): { readonly algorithm: number; readonly kinds: readonly string[]; readonly name?: string } | undefined;
  verify(id: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** Fingerprint of a message, by a hash without known collisions (SHA-256). Costs far less than `verify`. */
  digest(message: Uint8Array): string;
  /** Why a key is not trusted, for the log. */
  why?(id: Uint8Array): string;
}

/** A key to be trusted. */
export interface NewKey {
  readonly name: string;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  readonly kinds: readonly string[];
  /** UTC ms; absent: no limit. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** Changes the keys that the car trusts; each resolves when it is on disk. Doing the same again changes nothing. */
export interface TrustKeeper {
  /** Throws `input.malformed` for what is not a key, `command.forbidden` for a name that is taken or a key that was revoked. */
  add(key: NewKey): Promise<void>;
  /**
   * For ever: the key cannot be added again. Throws `input.unknown` for a key that is not known, `command.forbidden`
   * when no key would be left that may change keys.
   */
  revoke(id: Uint8Array): Promise<void>;
}
