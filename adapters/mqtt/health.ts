/** State of a link, for display and monitoring. */
import type { LinkState } from '../../protocol/schema/hello.ts';

/**
 * | state | meaning | next |
 * |---|---|---|
 * | `closed` | not started, or closed by the agent | dialing |
 * | `dialing` | no transport yet (name, TCP, TLS) | connecting, dialing (next address), waiting |
 * | `connecting` | transport is open; the broker has not accepted | subscribing, dialing, waiting |
 * | `subscribing` | accepted; messages to the car may not arrive yet | up, dialing, waiting |
 * | `up` | messages pass in both directions | waiting, dialing (a preferred broker is back) |
 * | `waiting` | delay before the next round of addresses | dialing |
 * | `closing` | publishes presence and disconnects; entered from every other state but `closed` | closed |
 */
export type { LinkState } from '../../protocol/schema/hello.ts';

const next: Readonly<Record<LinkState, readonly LinkState[]>> = {
  closed: ['dialing'],
  dialing: ['connecting', 'waiting', 'closing'],
  connecting: ['subscribing', 'dialing', 'waiting', 'closing'],
  subscribing: ['up', 'dialing', 'waiting', 'closing'],
  up: ['waiting', 'dialing', 'closing'],
  waiting: ['dialing', 'closing'],
  closing: ['closed'],
};

/** Counters since the link was created. */
export interface LinkCounts {
  /** Number of connection attempts, over all addresses and protocol versions. */
  readonly attempts: number;
  /** Number of changes to `up`. */
  readonly ups: number;
  /** Number of times that the link was lost while up. */
  readonly losses: number;
  /** Number of connections closed because the broker responded to pings but acknowledged nothing. */
  readonly overdue: number;
  /** Number of acknowledged publishes, and the size of their payloads in bytes. */
  readonly published: number;
  readonly publishedBytes: number;
  /** Number of publishes that were refused or lost. Their senders send them again. */
  readonly rejected: number;
  /** Number of messages received for the car, and of packets that exceeded the size limit. */
  readonly received: number;
  readonly oversize: number;
  /** Bytes of MQTT sent and received, excluding TLS overhead, including the current connection. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface LinkHealth {
  readonly state: LinkState;
  /** Start of the current state in UTC ms. */
  readonly since: number;
  /** Time in UTC ms since when the link has been down; absent while it is up. */
  readonly downSince?: number;
  /** Reason why the link is down or was last down. */
  readonly reason?: string;
  /** URL of the current or last broker, without secrets. */
  readonly broker?: string;
  readonly protocol?: '5' | '3.1.1';
  /** Silence before a ping in s. Adapts to the network. */
  readonly keepalive: number;
  /** Expiry of the vehicle's certificate in UTC ms. */
  readonly certificateExpires?: number;
  readonly counts: LinkCounts;
}

/** The state of a link, when it started, and why. Rejects transitions that are not in the table. */
export class LinkProgress {
  readonly counts = {
    attempts: 0,
    ups: 0,
    losses: 0,
    overdue: 0,
    published: 0,
    publishedBytes: 0,
    rejected: 0,
    received: 0,
    oversize: 0,
    sentBytes: 0,
    receivedBytes: 0,
  };
  readonly #now: () => number;
  #state: LinkState = 'closed';
  #since: number;
  #downSince: number;
  #reason: string | undefined;

  /** @param now returns the time in UTC ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
    this.#downSince = this.#since;
  }

  get state(): LinkState {
    return this.#state;
  }

  get since(): number {
    return this.#since;
  }

  get downSince(): number | undefined {
    return this.#state === 'up' ? undefined : this.#downSince;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** Changes to `state`, or updates the reason if that is current. Throws RangeError for other transitions. */
  enter(state: LinkState, reason?: string): void {
    if (state !== this.#state) {
      if (!next[this.#state].includes(state)) throw new RangeError(`a link that is ${this.#state} cannot be ${state}`);
      const wasUp = this.#state === 'up';
      this.#state = state;
      this.#since = this.#now();
      if (wasUp) this.#downSince = this.#since;
      if (state === 'dialing') this.counts.attempts++;
      if (state === 'up') this.counts.ups++;
    } else if (state === 'dialing') this.counts.attempts++;
    if (reason !== undefined) this.#reason = reason;
  }
}
