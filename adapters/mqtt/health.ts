/** State of a link, for people and for monitoring. */
import type { LinkState } from '../../protocol/schema/hello.ts';

/**
 * | state | meaning | next |
 * |---|---|---|
 * | `closed` | not started, or closed by the agent | dialing |
 * | `dialing` | no transport yet: name, TCP, TLS | connecting, dialing (next address), waiting |
 * | `connecting` | transport; the broker has not accepted | subscribing, dialing, waiting |
 * | `subscribing` | accepted; messages to the car may not arrive yet | up, waiting |
 * | `up` | publishes and commands pass | waiting, dialing (a preferred broker is back) |
 * | `waiting` | until the next round of addresses | dialing |
 * | `closing` | publishing presence and disconnecting; from every state | closed |
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
  /** Connection attempts, over all addresses and versions. */
  readonly attempts: number;
  /** Number of changes to `up`. */
  readonly ups: number;
  /** Number of losses while up. */
  readonly losses: number;
  /** Connections closed because the broker answered pings but acknowledged nothing. */
  readonly overdue: number;
  /** Publishes that the broker acknowledged, and the size of their payloads in bytes. */
  readonly published: number;
  readonly publishedBytes: number;
  /** Publishes that were refused or lost. Their owner sends them again. */
  readonly rejected: number;
  /** Received messages for the car, and packets that exceeded the size limit. */
  readonly received: number;
  readonly oversize: number;
  /** Bytes of MQTT in both directions, without TLS overhead, including the current connection. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface LinkHealth {
  readonly state: LinkState;
  /** Start of the current state, UTC ms. */
  readonly since: number;
  /** Time since when the link is down, UTC ms; absent while it is up. */
  readonly downSince?: number;
  /** Reason why the link is down or was last down. */
  readonly reason?: string;
  /** The broker of the current or last connection, without secrets. */
  readonly broker?: string;
  readonly protocol?: '5' | '3.1.1';
  /** Silence before a ping, s. Adapts to the network. */
  readonly keepalive: number;
  /** Expiry of the vehicle's certificate, UTC ms. */
  readonly certificateExpires?: number;
  readonly counts: LinkCounts;
}

/** The state of the link, its start and its reason; refuses a transition that is not in the table. */
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

  /** `now` returns UTC milliseconds. */
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

  /** Changes to `state`. If that is the current state, only logs the reason. Throws RangeError if not allowed. */
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
