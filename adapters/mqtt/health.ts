/** State of a link, for people and monitoring. */
import type { LinkState } from '../../protocol/schema/hello.ts';

/**
 * | state | meaning | next |
 * |---|---|---|
 * | `closed` | not started, or closed by the agent | dialing |
 * | `dialing` | no transport yet: name, TCP, TLS | connecting, dialing (next address), waiting |
 * | `connecting` | transport; the broker has not accepted | subscribing, dialing, waiting |
 * | `subscribing` | accepted; what is sent to the car may not arrive yet | up, waiting |
 * | `up` | publishes and commands pass | waiting, dialing (a preferred broker is back) |
 * | `waiting` | until the next round of addresses | dialing |
 * | `closing` | saying good-bye; from every state | closed |
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

/** Counts since the link was made. */
export interface LinkCounts {
  /** Connections begun, by address and version. */
  readonly attempts: number;
  /** Times it came up. */
  readonly ups: number;
  /** Times it was lost while up. */
  readonly losses: number;
  /** Connections given up because the broker answered and acknowledged nothing. */
  readonly overdue: number;
  /** Publishes that the broker acknowledged, and their payload in bytes. */
  readonly published: number;
  readonly publishedBytes: number;
  /** Publishes that were refused or lost. Their owner sends them again. */
  readonly rejected: number;
  /** Messages for the car, and packets that were too large. */
  readonly received: number;
  readonly oversize: number;
  /** Bytes of MQTT both ways, of TLS only what it carries; those of the present connection included. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface LinkHealth {
  readonly state: LinkState;
  /** Since when, UTC ms. */
  readonly since: number;
  /** Since when it is not up; absent while it is. UTC ms. */
  readonly downSince?: number;
  /** Why it is not up, or why it was not last. */
  readonly reason?: string;
  /** The broker that is spoken to, or was last; carries no secret. */
  readonly broker?: string;
  readonly protocol?: '5' | '3.1.1';
  /** Seconds of silence before a ping. Adapts to the network. */
  readonly keepalive: number;
  /** When the vehicle's certificate expires, UTC ms. */
  readonly certificateExpires?: number;
  readonly counts: LinkCounts;
}

/** Where the link is, since when and why; refuses a step that the table does not have. */
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

  /** Changes to `state`. The present state again only logs the reason. Throws RangeError if impossible. */
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
