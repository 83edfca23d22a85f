/** Events and states of commands that wait for receivers: kept by the commit of the message that brought them, sent by one hub at a time. */
import type { Callback } from '../../protocol/schema/callback.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { Owner } from './registry.ts';

/** Events for receivers in one commit of messages. */
export interface KeptDeliveries {
  /** Receivers for which something waits now that did not before. */
  readonly receivers: number;
  /** Receivers with too many waiting events lost the oldest. */
  readonly dropped: readonly DroppedDeliveries[];
  /** Monitors with an unreadable delivery, and receivers with an unreadable callback. */
  readonly unreadable: readonly UnreadableDelivery[];
}

export type UnreadableDelivery = ({ readonly monitorId: string } | { readonly key: string }) & {
  readonly error: string;
};

export interface DroppedDeliveries {
  readonly receiver: string;
  /** By this commit. */
  readonly count: number;
  /** Since the receiver is there. */
  readonly total: number;
}

/** How far the delivery to one receiver has come. */
interface ReceiverProgress {
  /** Events below this number are in the request that was tried already; 0: there was no request. */
  readonly held: number;
  /** Attempts of that request that failed. */
  readonly tries: number;
  /** UTC ms: when it is tried again. */
  readonly due?: number;
}

/** A receiver that this hub alone sends to, until its lease ends. */
export interface ClaimedReceiver extends ReceiverProgress {
  /** `monitor/ID`, `callback/ID`, or `callback/ID/DEVICE` with the digest of the endpoint. */
  readonly key: string;
  readonly lease: string;
  readonly owner: Owner;
  /** Why its callback or monitor cannot be read; absent: it can. */
  readonly unreadable?: string;
  /** As it is now; absent: it was removed, it cannot be read, or the receiver is the webhook of a monitor. */
  readonly callback?: Callback;
  /** Delivery of the monitor that the receiver belongs to (MonitorParameter.delivery), also after its removal. */
  readonly delivery?: string;
  /** Its callback or monitor was removed: no event comes any more. */
  readonly removed: boolean;
  /** The last request was accepted at once. */
  readonly proven: boolean;
  /** Events that came later have this number or a higher one. */
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
  /** UTC ms of the hub: when the event came. */
  readonly at: number;
  readonly vin: string;
  readonly contents: DeliveryContents;
  /** Undefined: its message is not there any more. `time`: UTC ms of the car. */
  readonly about:
    | { readonly event: MonitorEvent }
    | { readonly report: RemoteReport; readonly time: number }
    | undefined;
}

export interface ClaimOptions {
  /** UTC ms of the hub. */
  readonly now: number;
  readonly lease: string;
  /** How long the lease lasts, ms. */
  readonly lasts: number;
  readonly proven: boolean;
  readonly limit: number;
}

/** Outcomes of a receiver's events. */
export interface DeliveryChange extends ReceiverProgress {
  readonly key: string;
  readonly lease: string;
  /** Numbers of events that were delivered or given up. */
  readonly done: readonly number[];
  /** Absent: the receiver stays claimed, for {@link lasts} more ms. */
  readonly released?: {
    readonly proven: boolean;
    /** UTC ms: now. */
    readonly now: number;
    /** UTC ms: when to look again at what waits; absent: now. */
    readonly until?: number;
    /** Paused: what waits is looked at when the callback runs again. */
    readonly resting?: boolean;
    /** The highest number that was seen, plus one: what came later is looked at at once. */
    readonly seen: number;
  };
  readonly lasts: number;
}

/** Keeps deliveries for all hubs. Each rejects with `store.failed`. */
export interface DeliveryStore {
  /** Receivers that are due and that no hub has claimed, the longest due first. */
  claim(options: ClaimOptions): Promise<readonly ClaimedReceiver[]>;
  /** The first that wait for a receiver. */
  waiting(key: string, limit: number): Promise<readonly WaitingDelivery[]>;
  /** All changes in one commit; the keys of receivers that this hub no longer has, of which nothing was changed. */
  save(changes: readonly DeliveryChange[]): Promise<ReadonlySet<string>>;
  /** Erases receivers that this hub has, with what waits for them. */
  removeReceiver(key: string, lease: string): Promise<void>;
  /** Those of the callbacks that are there and run. */
  running(callbackIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Events that wait, and receivers for which events wait. */
  totals(): Promise<{ readonly waiting: number; readonly receivers: number }>;
  /** No other hub uses the database: what was claimed before this start is free. */
  releaseAll(): Promise<void>;
}
