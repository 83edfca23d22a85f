import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { SignalRules } from '../../protocol/schema/monitor/signals.ts';
import type { Monitor, MonitorStatus } from '../../protocol/schema/monitor.ts';
import type { Clock, Log, Memory, Publisher } from '../ports.ts';
import type { Monitors } from './monitors.ts';

/** A monitor from a file or another sender. */
export interface GivenMonitor {
  readonly monitorId: string;
  readonly monitor: unknown;
  readonly status?: MonitorStatus;
}

/** Time in ms between two attempts to publish a list that the disk refuses. */
const RETRY = 5_000;
/** Key of the ids of monitors from the configuration. */
const WRITTEN = 'monitors/written';

/**
 * Creates, changes and deletes monitors for a signed command, a file and the HTTP interface. Each change is published
 * with the version of the list, in the same commit as the state.
 */
export class MonitorDesk {
  readonly #monitors: Monitors;
  readonly #publisher: Publisher;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Version that the agent last reported to the cloud in this run; 0 if it reported none, -1 if it must report any. */
  #reported = 0;
  /** Monotonic time in ms from which a list that the disk refused is published again. */
  #retryAt = Number.POSITIVE_INFINITY;
  /** Ids of monitors from the configuration that no command or request has replaced since. */
  #written = new Set<string>();
  #writtenChanged = false;

  constructor(monitors: Monitors, parts: { publisher: Publisher; clock: Clock; log: Log }) {
    this.#monitors = monitors;
    this.#publisher = parts.publisher;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Custom signals that monitors may refer to. */
  get signals(): SignalRules {
    return this.#monitors.signals;
  }

  get all(): readonly Monitor[] {
    return this.#monitors.all;
  }

  get(id: string): Monitor | undefined {
    return this.#monitors.get(id);
  }

  /** As {@link Monitors.put}; resolves when the change is on disk. Rejects with `store.failed` if the disk refuses. */
  async put(id: string, input: unknown, status?: MonitorStatus, revision?: string): Promise<Monitor> {
    const monitor = this.#monitors.put(id, input, this.#clock.now(), status, revision);
    this.#disown(id);
    await this.#publish();
    return monitor;
  }

  /** As {@link Monitors.setStatus}; resolves when the change is on disk. */
  async setStatus(id: string, status: MonitorStatus): Promise<Monitor> {
    const monitor = this.#monitors.setStatus(id, status, this.#clock.now());
    await this.#publish();
    return monitor;
  }

  /** Removes a monitor. Resolves when the change is on disk: with true, or with false if there was no such monitor. */
  async remove(id: string): Promise<boolean> {
    const found = this.#monitors.remove(id);
    this.#disown(id);
    await this.#publish();
    return found;
  }

  /**
   * Applies the monitors of the configuration: removes those that it no longer has, and no others. If another sender
   * used an id, its monitor stays. If a monitor is faulty, logs it and keeps its previous version; applies the others.
   */
  async take(given: readonly GivenMonitor[]): Promise<void> {
    const before = this.#written;
    const written = new Set<string>();
    for (const { monitorId, monitor, status } of given) {
      const refuse = (error: string): void => this.#log.error('monitors.refused', { monitorId, error });
      if (!before.has(monitorId) && this.get(monitorId) !== undefined) {
        refuse('somebody else gave the monitor that has this id');
        continue;
      }
      try {
        this.#monitors.put(monitorId, monitor, this.#clock.now(), status);
        written.add(monitorId);
      } catch (error) {
        refuse((error as Error).message);
        if (before.has(monitorId)) written.add(monitorId);
      }
    }
    for (const id of before) if (!written.has(id)) this.#monitors.remove(id);
    this.#written = written;
    this.#writtenChanged = true;
    await this.#publish();
  }

  /** Publishes the list of an earlier run again: the present broker may not have it. Rejects if the disk refuses. */
  async announce(): Promise<void> {
    await this.#publish();
  }

  /** Publishes a list that the disk refused again. Call periodically. */
  look(): void {
    if (this.#clock.monotonic() < this.#retryAt) return;
    this.#retryAt = Number.POSITIVE_INFINITY;
    // The outbox logs a refusal, and this tries again later.
    this.#publish(true).catch(() => undefined);
  }

  /** Returns the changes since the last call, for the commits of the monitors. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#writtenChanged) return;
    this.#writtenChanged = false;
    yield [WRITTEN, this.#written.size === 0 ? undefined : [...this.#written]];
  }

  /** Restores the state of the previous run. */
  recall(memory: Pick<Memory, 'recall' | 'damaged'>): void {
    // The cloud may have a list of monitors that damage destroyed.
    if (memory.damaged === true) this.#reported = -1;
    const written = memory.recall(WRITTEN);
    if (Array.isArray(written)) this.#written = new Set(written.map(String).filter((id) => this.get(id) !== undefined));
  }

  /**
   * Carries out a command of kind `Monitor`. A redundant command means that the sender has a stale list: publishes the
   * list again.
   */
  readonly order = async (body: Uint8Array): Promise<void> => {
    const { monitorId, monitor, status, remove, revision } = decodeBody('Monitor', body);
    const { version } = this.#monitors;
    const wasReported = this.#reported === version;
    if (monitor !== undefined) await this.put(monitorId, monitor, status, revision);
    else if (status !== undefined) await this.setStatus(monitorId, status);
    else if (remove === true) await this.remove(monitorId);
    else throw new VigieError('command.malformed', 'it gives no monitor and no status, and removes none');
    if (wasReported && this.#monitors.version === version) await this.#publish(true);
  };

  /** Another sender now controls this monitor: removes its id from those of the configuration. */
  #disown(id: string): void {
    if (this.#written.delete(id)) this.#writtenChanged = true;
  }

  async #publish(again = false): Promise<void> {
    const { version, list } = this.#monitors;
    if (this.#reported === version && !again) return;
    try {
      // The cloud must not have a list that a power cut would erase from the car.
      await this.#publisher.secure('monitor', list, { retain: true, durable: true });
    } catch (error) {
      this.#retryAt = this.#clock.monotonic() + RETRY;
      throw error;
    }
    this.#reported = Math.max(this.#reported, version);
  }
}
