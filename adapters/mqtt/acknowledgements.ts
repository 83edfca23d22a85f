import type { Clock } from '../../agent/ports.ts';

interface AcknowledgementsParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Maximum wait in ms for an acknowledgement, starting when the broker is known to have the packet. */
  readonly patience: number;
  /** Sends the broker a ping. */
  readonly ask: () => void;
  /** Called once, if the broker responds to pings but does not acknowledge. */
  readonly overdue: () => void;
}

/**
 * Detects a broker that responds to pings but acknowledges nothing, which would block the window for ever. On a slow
 * network a packet may be in transit for a long time, so a timeout alone proves nothing. After the timeout this class
 * sends a ping; since packets stay in order, the response proves that the broker has the earlier packets. If there is
 * no response, the keep-alive closes the connection.
 */
export class Acknowledgements {
  readonly #parts: AcknowledgementsParts;
  /** Unacknowledged packets and the times when they were sent, oldest first. */
  readonly #waiting = new Map<object, number>();
  #cancel: (() => void) | undefined;
  /** Time of the ping that has had no response yet. */
  #asked: number | undefined;
  /** The broker has received everything that was sent up to this time. */
  #arrived = Number.NEGATIVE_INFINITY;

  constructor(parts: AcknowledgementsParts) {
    this.#parts = parts;
  }

  /** Records a packet that was sent and needs an acknowledgement. */
  expect(packet: object): void {
    this.#waiting.set(packet, this.#parts.clock.monotonic());
    if (this.#cancel === undefined) this.#lookAfter(this.#parts.patience);
  }

  /** Records that the packet was acknowledged. */
  came(packet: object): void {
    this.#waiting.delete(packet);
    if (this.#waiting.size === 0) this.stop();
  }

  /** Records that the broker responded to a ping. Returns true if this class had sent the ping. */
  answered(): boolean {
    if (this.#asked === undefined) return false;
    this.#arrived = this.#asked;
    this.#asked = undefined;
    if (this.#waiting.size > 0) this.#lookAfter(this.#parts.patience);
    return true;
  }

  /** Stops the timer until another packet is sent. */
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

/** Monotonic clock of the machine in ms. */
export const machineClock: AcknowledgementsParts['clock'] = {
  monotonic: () => performance.now(),
  after: (delay, due) => {
    const timer = setTimeout(due, delay);
    return () => clearTimeout(timer);
  },
};

interface TakingParts {
  /** Maximum number of unhandled messages; beyond it, reading pauses. */
  readonly most: number;
  readonly acknowledge: (id: number) => void;
  /** Called if handling a message failed; nothing is acknowledged or read after that. */
  readonly failed: (error: Error) => void;
}

/**
 * Enforces the Receive Maximum on a broker (MQTT 5 clause 3.1.2.11.3): Mosquitto 2.0 sends the whole backlog of a
 * session in one go, and only messages that have not been read use no memory here.
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

  /** True while reading is paused until a message has been handled. */
  get holding(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves when all received messages are acknowledged, or after one of them has failed. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** `id` is 0 if no acknowledgement is needed. Calls `next` at once, or when few enough messages are unhandled. */
  add(taking: Promise<void>, id: number, next: () => void): void {
    // Acknowledge messages in the order of their arrival [MQTT-4.6.0-2].
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
