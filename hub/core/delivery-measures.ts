/** Metrics: counters of one hub for its deliveries to receivers since it started. */

/** Reasons for the loss of an event. */
const deliveryLosses = ['dropped', 'refused', 'expired', 'damaged'] as const;
export type DeliveryLoss = (typeof deliveryLosses)[number];

export interface DeliveryCounts {
  /** Events that a receiver accepted. */
  readonly delivered: number;
  /** Requests that a receiver did not accept. */
  readonly failed: number;
  readonly lost: Readonly<Record<DeliveryLoss, number>>;
}

/** Outcome of one request. */
interface Sent {
  readonly outcome: 'delivered' | 'failed' | 'offline' | 'gone';
  /** For a failed request: number of events that the receiver accepted nevertheless. */
  readonly delivered?: number;
}

export class DeliveryMeasures {
  #delivered = 0;
  #failed = 0;
  readonly #lost = { dropped: 0, refused: 0, expired: 0, damaged: 0 };

  /** Counts a finished request that contained `count` events. */
  sent({ outcome, delivered = 0 }: Sent, count: number): void {
    this.#delivered += outcome === 'delivered' ? count : delivered;
    if (outcome === 'failed' || outcome === 'gone') this.#failed++;
  }

  gaveUp(losses: Partial<Readonly<Record<DeliveryLoss, number>>>): void {
    for (const loss of deliveryLosses) this.#lost[loss] += losses[loss] ?? 0;
  }

  get counts(): DeliveryCounts {
    return { delivered: this.#delivered, failed: this.#failed, lost: this.#lost };
  }
}
