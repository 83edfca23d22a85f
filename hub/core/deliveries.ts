/** Events and states of commands that wait for receivers. Stored with their message, sent by one hub at a time. */
import type { Callback } from '../../protocol/schema/callback.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { Owner } from './registry.ts';

/** Changes to the deliveries that one commit of messages causes. */
export interface KeptDeliveries {
  /** Number of receivers that had no waiting events before this commit and have some now. */
  readonly receivers: number;
  /** Receivers that lost their oldest events because too many were waiting. */
  readonly dropped: readonly DroppedDeliveries[];
  /** Monitors whose delivery is unreadable, and receivers whose callback is unreadable. */
  readonly unreadable: readonly UnreadableDelivery[];
}

export type UnreadableDelivery = ({ readonly monitorId: string } | { readonly key: string }) & {
  readonly error: string;
};

export interface DroppedDeliveries {
  readonly receiver: string;
  /** Events dropped in this commit. */
  readonly count: number;
  /** Events dropped since the receiver was created. */
  readonly total: number;
}

/** Progress of the delivery to one receiver. */
interface ReceiverProgress {
  /** Events below this number belong to the request that was already tried. 0 if there was no request yet. */
  readonly held: number;
  /** Failed attempts of that request. */
  readonly tries: number;
  /** Time of the next attempt in UTC ms. */
  readonly due?: number;
}

/** A receiver that only this hub sends to until the lease ends. */
export interface ClaimedReceiver extends ReceiverProgress {
  /** `monitor/ID`, `callback/ID`, or `callback/ID/DEVICE` with the digest of the endpoint. */
  readonly key: string;
  readonly lease: string;
  readonly owner: Owner;
  /** Reason why the callback or monitor cannot be read. Omitted if it can. */
  readonly unreadable?: string;
  /** Current callback. Omitted if it was removed or unreadable, or if the receiver is the webhook of a monitor. */
  readonly callback?: Callback;
  /** Delivery of the receiver's monitor (MonitorParameter.delivery), even after the monitor was removed. */
  readonly delivery?: string;
  /** True if the callback or monitor was removed, so that the receiver gets no more events. */
  readonly removed: boolean;
  /** True if the receiver accepted the last request at once. */
  readonly proven: boolean;
  /** Lowest number that an event that arrives later can have. */
  readonly next: number;
}

/** Attributes that a monitor adds to its event, or a command to its states. */
export interface DeliveryContents {
  readonly label?: string;
  /** JSON of Attribute[] and of ChannelAttributes. */
  readonly attributes?: unknown;
  readonly callbackAttributes?: unknown;
}

export interface WaitingDelivery {
  readonly seq: number;
  /** Arrival of the event in UTC ms of the hub. */
  readonly at: number;
  readonly vin: string;
  readonly contents: DeliveryContents;
  /** Undefined if the message no longer exists. Its `time` is in UTC ms of the car. */
  readonly about:
    | { readonly event: MonitorEvent }
    | { readonly report: RemoteReport; readonly time: number }
    | undefined;
}

export interface ClaimOptions {
  /** UTC ms of the hub. */
  readonly now: number;
  readonly lease: string;
  /** Duration of the lease in ms. */
  readonly lasts: number;
  readonly proven: boolean;
  readonly limit: number;
}

/** Outcome of sending events to a receiver. */
export interface DeliveryChange extends ReceiverProgress {
  readonly key: string;
  readonly lease: string;
  /** Numbers of events that were delivered or given up. */
  readonly done: readonly number[];
  /** If omitted, the receiver stays claimed for {@link lasts} more ms. */
  readonly released?: {
    readonly proven: boolean;
    /** Present time in UTC ms. */
    readonly now: number;
    /** Time of the next check of the waiting events in UTC ms. If omitted, now. */
    readonly until?: number;
    /** The callback is paused: check the waiting events when it is resumed. */
    readonly resting?: boolean;
    /** Highest number that was read, plus one. Later events are checked at once. */
    readonly seen: number;
  };
  readonly lasts: number;
}

/** Stores deliveries for all hubs. Each method rejects with `store.failed`. */
export interface DeliveryStore {
  /** Claims receivers that are due and not claimed by another hub, the longest due first. */
  claim(options: ClaimOptions): Promise<readonly ClaimedReceiver[]>;
  /** Returns the oldest events that wait for a receiver. */
  waiting(key: string, limit: number): Promise<readonly WaitingDelivery[]>;
  /** Applies all changes in one commit. Returns the keys of receivers that this hub lost, for which nothing changed. */
  save(changes: readonly DeliveryChange[]): Promise<ReadonlySet<string>>;
  /** Erases a receiver that this hub has claimed, with its waiting events. */
  removeReceiver(key: string, lease: string): Promise<void>;
  /** Returns those of the given callbacks that exist and are not paused. */
  running(callbackIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Number of waiting events, and number of receivers with waiting events. */
  totals(): Promise<{ readonly waiting: number; readonly receivers: number }>;
  /** Releases all claims. Only for a database that no other hub uses: the claims are from before this start. */
  releaseAll(): Promise<void>;
}
