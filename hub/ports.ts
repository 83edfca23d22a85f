/** What the hub asks of the world: adapters implement it, and what builds a hub passes it in. */
import type { CarMessage, RefusedMessage } from './message.ts';
import type { NumbersReport } from './numbers.ts';

/** UTC milliseconds. */
export interface WallClock {
  now(): number;
}

/** Says what the hub does, for people; `fields` is small and carries no secret. */
export interface HubLog {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
}

/** A car that the hub has heard. */
export interface KnownVehicle {
  readonly vin: string;
  /** UTC ms of the hub: its first and its latest message. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Keeps messages, and in the same commit what they say of numbers, records and Status. */
export interface MessageStore {
  /**
   * Resolves when all of them are on disk. A message that is there already, by vehicle, class, `seq` and `boot`, changes
   * nothing. Rejects with `store.failed`, and then none of them is kept.
   */
  save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<void>;
}

/** What the hub reports of its cars. */
export interface NumbersStore {
  /** By VIN. */
  vehicles(): Promise<readonly KnownVehicle[]>;
  /** Of each class of which anything is known, in the order of the classes; undefined: no such car. */
  numbers(vin: string): Promise<readonly VehicleNumbers[] | undefined>;
}

export interface VehicleNumbers extends NumbersReport {
  readonly class: number;
}
