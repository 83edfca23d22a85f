import type { DeliveryChange, DeliveryStore } from '../core/deliveries.ts';

interface Pending {
  readonly change: DeliveryChange;
  resolve(isOwn: boolean): void;
  reject(error: unknown): void;
}

/** Saves changes of receivers. Changes that arrive together share one commit. */
export class DeliverySaves {
  readonly #store: Pick<DeliveryStore, 'save'>;
  #pending: Pending[] = [];
  #busy = false;

  constructor(store: Pick<DeliveryStore, 'save'>) {
    this.#store = store;
  }

  /** Resolves with true when the change is on disk; false if the receiver is lost. Rejects with `store.failed`. */
  save(change: DeliveryChange): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, resolve, reject });
      if (this.#busy) return;
      this.#busy = true;
      setImmediate(() => void this.#commitAll());
    });
  }

  /** Never rejects: each caller of {@link save} receives the outcome. */
  async #commitAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0);
      try {
        const lost = await this.#store.save(batch.map(({ change }) => change));
        for (const { change, resolve } of batch) resolve(!lost.has(change.key));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = false;
  }
}
