import type { Clock } from '../../agent/ports.ts';

interface AcknowledgementsParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Longest wait for an acknowledgement, ms; it starts when the broker is known to have the packet. */
  readonly patience: number;
  /** Asks the broker for a sign of life. */
  readonly ask: () => void;
  /** Called once, if the broker answers questions but does not acknowledge. */
  readonly overdue: () => void;
}

/**
 * Detects a broker that answers pings but acknowledges nothing: it would block the window for ever. On a slow network a
 * packet is in transit for long, so a timeout alone proves nothing. After the timeout this class asks the broker, and
 * the answer, which arrives in order, proves that the broker had the earlier packets. The keep-alive handles a missing
 * answer.
 */
export class Acknowledgements {
  readonly #parts: AcknowledgementsParts;
  /** Unacknowledged packets and the times at which they were sent, the oldest first. */
  readonly #waiting = new Map<object, number>();
  #cancel: (() => void) | undefined;
  /** Time of the unanswered question. */
  #asked: number | undefined;
  /** The broker has received everything that was sent until this time. */
  #arrived = Number.NEGATIVE_INFINITY;

  constructor(parts: AcknowledgementsParts) {
    this.#parts = parts;
  }

  /** Records a sent packet that needs an acknowledgement. */
  expect(packet: object): void {
    this.#waiting.set(packet, this.#parts.clock.monotonic());
    if (this.#cancel === undefined) this.#lookAfter(this.#parts.patience);
  }

  /** Records the acknowledgement of the packet. */
  came(packet: object): void {
    this.#waiting.delete(packet);
    if (this.#waiting.size === 0) this.stop();
  }

  /** Records an answer of the broker. Returns true if this class asked the question. */
  answered(): boolean {
    if (this.#asked === undefined) return false;
    this.#arrived = this.#asked;
    this.#asked = undefined;
    if (this.#waiting.size > 0) this.#lookAfter(this.#parts.patience);
    return true;
  }

  /** Stops all waiting until the next packet is sent. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #lookAfter(delay: number): void {
    this.#cancel?.();
    this.#cancel = this.#parts.clock.after(delay, () => {
      this.#cancel = undefined;
      this.#look();
    });
  }

  #look(): void {
    const { clock, patience, ask, overdue } = this.#parts;
    const [oldest] = this.#waiting.values();
    if (oldest === undefined) return;
    const left = oldest + patience - clock.monotonic();
    if (left > 0) this.#lookAfter(left);
    else if (oldest <= this.#arrived) overdue();
    else if (this.#asked === undefined) {
      this.#asked = clock.monotonic();
      ask();
    }
  }
}

/** Monotonic clock of the machine, ms. */
export const machineClock: AcknowledgementsParts['clock'] = {
  monotonic: () => performance.now(),
  after: (delay, due) => {
    const timer = setTimeout(due, delay);
    return () => clearTimeout(timer);
  },
};

interface TakingParts {
  /** Largest number of unhandled messages; reading pauses above it. */
  readonly most: number;
  readonly acknowledge: (id: number) => void;
  /** Called when the handling of a message failed; nothing is acknowledged or read after that. */
  readonly failed: (error: Error) => void;
}

/**
 * Enforces the Receive Maximum on a broker (MQTT 5 clause 3.1.2.11.3): Mosquitto 2.0 sends the whole backlog of a
 * session at once, and only messages that this side has not read stay out of its memory.
 */
export class Taking {
  readonly #parts: TakingParts;
  #untaken = 0;
  /** Resumes reading. */
  #next: (() => void) | undefined;
  #settled: Promise<void> = Promise.resolve();

  constructor(parts: TakingParts) {
    this.#parts = parts;
  }

  /** True while reading waits until a message has been handled. */
  get holding(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves when all received messages are acknowledged, or one of them has failed. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** `id`: 0 for a message without acknowledgement. Calls `next` at once, or when few enough messages are open. */
  add(taking: Promise<void>, id: number, next: () => void): void {
    // Acknowledge in the order of arrival [MQTT-4.6.0-2].
    this.#settled = Promise.all([this.#settled, taking]).then(
      () => {
        if (id !== 0) this.#parts.acknowledge(id);
        this.#untaken--;
        const held = this.#next;
        this.#next = undefined;
        held?.();
      },
      (error: Error) => this.#parts.failed(error),
    );
    if (++this.#untaken <= this.#parts.most) next();
    else this.#next = next;
  }
}
