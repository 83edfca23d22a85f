/** Clears the retained messages of forgotten cars at the broker until none remains, even after a restart. */
import { Looks } from './looks.ts';
import type { HubLog, Timer } from './ports.ts';
import type { Registry } from './registry.ts';

/** Time in ms between two checks, and from a message of a forgotten car to the next check. */
const RETRY_MS = 5_000;

interface ErasuresParts {
  readonly registry: Pick<Registry, 'erasures' | 'cleared' | 'clearAgain' | 'isForgotten'>;
  /**
   * Clears the topics and all other topics of the car that the broker retains. Resolves when the broker retains none
   * of them. Rejects while the broker is unreachable or does not permit it.
   */
  readonly clear: (vin: string, topics: readonly string[]) => Promise<void>;
  readonly after: Timer;
  readonly log: HubLog;
}

export class Erasures {
  readonly #parts: ErasuresParts;
  readonly #looks: Looks;
  /** Cars that sent messages since the last check. */
  readonly #heard = new Set<string>();
  /** Cars that sent messages while the registry could not be read or written. */
  readonly #untold = new Set<string>();

  constructor(parts: ErasuresParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: RETRY_MS, look: () => this.#look() });
  }

  begin(): void {
    this.#looks.wake();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Call when a car was forgotten. */
  wake(): void {
    this.#looks.wake();
  }

  /** Call when a car has sent a message that brokers retain. Never rejects. */
  async sent(vin: string): Promise<void> {
    try {
      if (await this.#parts.registry.isForgotten(vin)) this.forgottenSent([vin]);
    } catch (error) {
      this.#untold.add(vin);
      this.#failed(vin, error);
    }
  }

  /** Call when forgotten cars have sent messages that the broker may retain. The next check clears them. */
  forgottenSent(vins: Iterable<string>): void {
    for (const vin of vins) {
      if (this.#heard.has(vin)) continue;
      this.#heard.add(vin);
      // Record this on disk now: after a restart, there may be no further message that shows it.
      void this.#clearAgain(vin);
    }
  }

  /** Records that the broker may retain messages again. Ignores cars that were not forgotten. Never rejects. */
  async #clearAgain(vin: string): Promise<void> {
    try {
      await this.#parts.registry.clearAgain(vin);
    } catch (error) {
      this.#untold.add(vin);
      this.#failed(vin, error);
    }
  }

  async #look(): Promise<void> {
    const { registry, clear, log } = this.#parts;
    this.#heard.clear();
    const untold = [...this.#untold];
    this.#untold.clear();
    for (const vin of untold) await this.#clearAgain(vin);
    const due = await registry.erasures().catch((error: unknown) => {
      log.warn('hub.erasure.failed', { error: (error as Error).message });
      return [];
    });
    for (const { vin, topics } of due) {
      if (this.#looks.stopped) return;
      try {
        await clear(vin, topics);
        if (this.#heard.has(vin)) continue;
        await registry.cleared(vin);
        log.info('hub.erasure.cleared', { vin });
      } catch (error) {
        this.#failed(vin, error);
      }
    }
  }

  #failed(vin: string, error: unknown): void {
    this.#parts.log.warn('hub.erasure.failed', { vin, error: (error as Error).message });
  }
}
