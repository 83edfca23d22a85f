/** Messages between a bench and its agent process, sent over the channel between them. */

import type { Level } from '../adapters/logging/stream.ts';
import type { TlsFiles } from '../adapters/mqtt/index.ts';
import type { ScenarioName } from '../adapters/simulated/index.ts';
import type { FrameBatch, OutgoingFrame } from '../agent/ports.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import type { OutboxReport } from '../protocol/interface/own/outbox.ts';
import type { StatusContents } from '../protocol/schema/status.ts';

/** Broker of a bench, with values that can be sent to another process. */
export interface BenchBroker {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsFiles;
}

/** Start parameters of the agent. */
export interface AgentOrder {
  readonly vin: string;
  readonly data: string;
  readonly scenario: ScenarioName;
  /** File of the keys that may sign commands for the car. */
  readonly trust: string;
  readonly mqtt: BenchBroker;
  /** Address of the page, which forwards its requests to the agent. */
  readonly page: string;
  readonly tiles: MapTiles | undefined;
  /** True if the broker also gets topics with plain values for Home Assistant. */
  readonly homeAssistant: boolean;
  readonly log: Level;
  /** Names of the buses of the simulated car. */
  readonly buses: readonly string[];
}

export type ToAgent =
  | { readonly begin: AgentOrder }
  | { readonly batch: FrameBatch }
  /** Outcome of the frame with this number. `fault`: reason why it was not sent. */
  | { readonly sent: number; readonly fault?: string }
  | { readonly ask: 'outbox' | 'status' };

export type FromAgent =
  /** Port of the agent's interface, and the agent's response for `/vigie/v1/car`. */
  | { readonly ready: number; readonly car: string }
  | { readonly fault: string }
  | { readonly outbox: OutboxReport }
  | { readonly status: StatusContents; readonly waiting: number }
  | { readonly published: string; readonly payload: Uint8Array }
  | { readonly send: OutgoingFrame; readonly number: number };

/** Copies the valid rows of a batch, since its source reuses the columns. */
export function copyOf({ count, at, id, bus, flags, length, offset, data }: FrameBatch): FrameBatch {
  const last = count - 1;
  const end = count === 0 ? 0 : (offset[last] ?? 0) + Math.ceil((length[last] ?? 0) / 8) * 8;
  return {
    count,
    at: at.slice(0, count),
    id: id.slice(0, count),
    bus: bus.slice(0, count),
    flags: flags.slice(0, count),
    length: length.slice(0, count),
    offset: offset.slice(0, count),
    data: data.slice(0, end),
  };
}
