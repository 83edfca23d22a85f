import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Monitor, MonitorStatus } from '../../protocol/schema/monitor.ts';
import type { Clock, Log, Publisher } from '../ports.ts';
import type { Monitors } from './monitors.ts';

/** A monitor by its id and what it watches, as a file or another sender gives it. */
export interface GivenMonitor {
  readonly monitorId: string;
  readonly monitor: unknown;
  readonly status?: MonitorStatus;
}

/**
 * Where monitors are given and taken, whoever asks: a signed command, a file, the HTTP interface. Each change is told
 * to the cloud with the version of the list, and kept in the same commit.
 */
export class MonitorDesk {
  readonly #monitors: Monitors;
  readonly #publisher: Publisher;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Version that the cloud was told of last. */
  #told: number;

  constructor(monitors: Monitors, parts: { publisher: Publisher; clock: Clock; log: Log }) {
    this.#monitors = monitors;
    this.#publisher = parts.publisher;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#told = monitors.version;
  }

  get all(): readonly Monitor[] {
    return this.#monitors.all;
  }

  get(id: string): Monitor | undefined {
    return this.#monitors.get(id);
  }

  /** As {@link Monitors.put}; resolves when it is on disk. Rejects with `store.failed` when the disk refuses. */
  async put(id: string, input: unknown, status?: MonitorStatus): Promise<Monitor> {
    const monitor = this.#monitors.put(id, input, this.#clock.now(), status);
    await this.#tell();
    return monitor;
  }

  /** As {@link Monitors.setStatus}; resolves when it is on disk. */
  async setStatus(id: string, status: MonitorStatus): Promise<Monitor> {
    const monitor = this.#monitors.setStatus(id, status, this.#clock.now());
    await this.#tell();
    return monitor;
  }

  /** Resolves when it is on disk; false: there was none. */
  async remove(id: string): Promise<boolean> {
    const found = this.#monitors.remove(id);
    await this.#tell();
    return found;
  }

  /** Takes monitors that came with the configuration; what is wrong with one is said and keeps no other away. */
  async take(given: readonly GivenMonitor[]): Promise<void> {
    for (const { monitorId, monitor, status } of given) {
      try {
        this.#monitors.put(monitorId, monitor, this.#clock.now(), status);
      } catch (error) {
        this.#log.error('a monitor is not taken', { monitorId, error: (error as Error).message });
      }
    }
    await this.#tell();
  }

  /** Carries out a command of kind `Monitor`. */
  readonly order = async (body: Uint8Array): Promise<void> => {
    const { monitorId, monitor, status, remove } = decodeBody('Monitor', body);
    if (monitor !== undefined) await this.put(monitorId, monitor, status);
    else if (status !== undefined) await this.setStatus(monitorId, status);
    else if (remove === true) await this.remove(monitorId);
    else throw new VigieError('command.malformed', 'it gives no monitor and no status, and removes none');
  };

  async #tell(): Promise<void> {
    const { version, list } = this.#monitors;
    if (this.#told === version) return;
    await this.#publisher.secure('monitor', list, { retain: true });
    // What the disk refused is told again with the next change, even if that is none.
    this.#told = Math.max(this.#told, version);
  }
}
