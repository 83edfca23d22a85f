/** Clears retained messages of forgotten cars at the broker, until it has no more; also after a restart. */
import { Looks } from './looks.ts';
import type { HubLog, Timer } from './ports.ts';
import type { Registry } from './registry.ts';

/** Time between two looks, and from a message of a forgotten car to the next look, ms. */
const RETRY_MS = 5_000;

interface ErasuresParts {
  readonly registry: Pick<Registry, 'erasures' | 'cleared' | 'clearAgain' | 'isForgotten'>;
  /**
   * Clears the topics, and all others of the car that the broker retains. Resolves when it has no more; rejects while the
   * broker is away or does not permit it.
   */
  readonly clear: (vin: string, topics: readonly string[]) => Promise<void>;
  readonly after: Timer;
  readonly log: HubLog;
}

export class Erasures {
  readonly #parts: ErasuresParts;
  readonly #looks: Looks;
  /** Cars that sent something since the last look. */
  readonly #heard = new Set<string>();
  /** Cars of which the registry could not take down that they sent something. */
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

  /** A car was forgotten. */
  wake(): void {
    this.#looks.wake();
  }

  /** A car has sent a message that brokers retain. Never rejects. */
  async sent(vin: string): Promise<void> {
    try {
      if (await this.#parts.registry.isForgotten(vin)) this.forgottenSent([vin]);
    } catch (error) {
      this.#untold.add(vin);
      this.#failed(vin, error);
    }
  }

  /** Forgotten cars have sent messages, which the broker may retain: the next look clears them. */
  forgottenSent(vins: Iterable<string>): void {
    for (const vin of vins) {
      if (this.#heard.has(vin)) continue;
      this.#heard.add(vin);
      // On disk now: after a restart no message may come that shows it again.
      void this.#clearAgain(vin);
    }
  }

  /** Never rejects. Changes nothing for a car that was not forgotten. */
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
