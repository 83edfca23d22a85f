import type { Clock } from '../../agent/ports.ts';

interface AcknowledgementsParts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Milliseconds that an acknowledgement may take, from when the broker is known to have the packet. */
  readonly patience: number;
  /** Asks the broker whether it is there. */
  readonly ask: () => void;
  /** Called once: it is there, and does not acknowledge. */
  readonly overdue: () => void;
}

/**
 * Notices a broker that answers questions and acknowledges nothing: it would hold the window for ever. On a slow network
 * a packet is on its way for long, so time alone says nothing: after it the broker is asked, and its answer, which comes
 * in turn, shows that it had the packets before. One that does not answer either is the keep-alive's matter.
 */
export class Acknowledgements {
  readonly #parts: AcknowledgementsParts;
  /** Unacknowledged packets and their times, the oldest first. */
  readonly #waiting = new Map<object, number>();
  #cancel: (() => void) | undefined;
  /** When the question was put that is not answered yet. */
  #asked: number | undefined;
  /** The broker has all that was sent until then. */
  #arrived = Number.NEGATIVE_INFINITY;

  constructor(parts: AcknowledgementsParts) {
    this.#parts = parts;
  }

  /** A packet was sent that is to be acknowledged. */
  expect(packet: object): void {
    this.#waiting.set(packet, this.#parts.clock.monotonic());
    if (this.#cancel === undefined) this.#lookAfter(this.#parts.patience);
  }

  /** It was. */
  came(packet: object): void {
    this.#waiting.delete(packet);
    if (this.#waiting.size === 0) this.stop();
  }

  /** The broker answered a question; true when it was put here. */
  answered(): boolean {
    if (this.#asked === undefined) return false;
    this.#arrived = this.#asked;
    this.#asked = undefined;
    if (this.#waiting.size > 0) this.#lookAfter(this.#parts.patience);
    return true;
  }

  /** Waits for nothing any more until something is sent. */
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

/** Milliseconds of the machine. */
export const machineClock: AcknowledgementsParts['clock'] = {
  monotonic: () => performance.now(),
  after: (delay, due) => {
    const timer = setTimeout(due, delay);
    return () => clearTimeout(timer);
  },
};

interface TakingParts {
  /** Untaken messages; beyond them nothing more is read. */
  readonly most: number;
  readonly acknowledge: (id: number) => void;
  /** A message was not taken; nothing is acknowledged or read any more. */
  readonly failed: (error: Error) => void;
}

/**
 * Holds a broker to the Receive Maximum (MQTT 5 clause 3.1.2.11.3): Mosquitto 2.0 sends the whole backlog of a session at
 * once, and only what this side has not read stays out of its memory.
 */
export class Taking {
  readonly #parts: TakingParts;
  #untaken = 0;
  /** Reads on. */
  #next: (() => void) | undefined;
  #settled: Promise<void> = Promise.resolve();

  constructor(parts: TakingParts) {
    this.#parts = parts;
  }

  /** Nothing is read until one more message is taken. */
  get holding(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves when all that came is acknowledged, or one of them has failed. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** `id`: 0 for a message that wants no acknowledgement. Calls `next` at once, or when few enough are untaken. */
  add(taking: Promise<void>, id: number, next: () => void): void {
    // In the order in which the messages came [MQTT-4.6.0-2].
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
