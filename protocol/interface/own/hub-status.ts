/** State of a hub: `GET /vigie/v1/status` at its interface, and `/status` at the socket in its directory. */
import type { Kind } from '../../schema/kind.ts';
import type { Age } from './hub-overview.ts';

/** A car that is not registered, with the messages that the hub keeps aside. Times are UTC ms of the hub. */
export interface UnregisteredCarStatus {
  readonly vin: string;
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly messages: number;
  readonly bytes: number;
  /** Number of its messages that were dropped. */
  readonly dropped: number;
}

/** Forecast for the disk of the database. */
export interface DiskStatus {
  /** Size of the database in bytes. */
  readonly bytes: number;
  /** Free bytes. Omitted if the disk belongs to another machine (PostgreSQL). */
  readonly free?: number;
  /** Time in ms for which the hub has observed the size. */
  readonly observed: number;
  /** Growth in bytes a day. Omitted until the hub has observed the size for an hour. */
  readonly growth?: number;
  /** Days until the disk is full. Omitted if unknown, or if the database does not grow. */
  readonly days?: number;
}

/** Values from the database, the same at all hubs on it. */
export interface StoredStatus {
  /** Number of cars, and number of cars by the age of their last message. */
  readonly cars: { readonly total: number; readonly ages: Readonly<Record<Age, number>> };
  /** Classes in which message numbers are missing. */
  readonly missing: readonly { readonly class: number; readonly numbers: number; readonly cars: number }[];
  readonly unregistered: {
    readonly cars: number;
    readonly messages: number;
    readonly bytes: number;
    /** The cars that sent last, newest first. */
    readonly newest: readonly UnregisteredCarStatus[];
  };
  readonly deliveries: { readonly waiting: number; readonly receivers: number };
  readonly disk: DiskStatus;
  /** `days` for which messages are kept, by kind. `paused`: nothing is removed until a car confirms the clock. */
  readonly retention: { readonly days: Readonly<Partial<Record<Kind, number>>>; readonly paused: boolean };
}

export interface HubStatus {
  /** Clock of the hub, UTC ms. */
  readonly at: number;
  readonly version: string;
  /** Time since the start in ms. */
  readonly uptime: number;
  /** `receiving`: false while another hub receives the messages of the group. */
  readonly broker: { readonly url: string; readonly connected: boolean; readonly receiving: boolean };
  /** `reason`: why the database does not answer. */
  readonly database: { readonly kind: 'sqlite' | 'postgresql'; readonly answers: boolean; readonly reason?: string };
  /** Commits of this hub since its start. `waiting`: messages that wait for one; `failing`: the last one failed. */
  readonly commits: { readonly waiting: number; readonly failed: number; readonly failing: boolean };
  /** New messages of the last five minutes, by priority class, with the mean time in ms from creation to arrival. */
  readonly lag: readonly { readonly class: number; readonly messages: number; readonly mean: number }[];
  /** Messages that this hub refused since its start. */
  readonly refused: Readonly<Record<'unreadable' | 'unregistered' | 'removed' | 'forgotten', number>>;
  /** Events that this hub sent to receivers since its start, and reasons for which events were lost. */
  readonly sent: {
    readonly delivered: number;
    readonly failed: number;
    readonly lost: Readonly<Record<'dropped' | 'refused' | 'expired' | 'damaged', number>>;
  };
  /** Omitted if the database does not answer. */
  readonly stored?: StoredStatus;
}
