/** Chooses the protocol version for a broker that has no configured one. */

/** MQTT 5 or MQTT 3.1.1, as numbered in the CONNECT packet. */
export type Version = 5 | 4;

/** Returns the display name of a version. */
export function protocolName(version: Version): '5' | '3.1.1' {
  return version === 5 ? '5' : '3.1.1';
}

/** Stage that a connection reached, and why it ended. */
export interface Closing {
  /** `dialing`: no transport; `connecting`: transport open, but CONNECT not accepted; `connected`: CONNECT accepted. */
  readonly stage: 'dialing' | 'connecting' | 'connected';
  /** Human-readable reason. */
  readonly reason: string;
  /** Reason code of a CONNACK or DISCONNECT (MQTT 5 clause 2.4, MQTT 3.1.1 clause 3.2.2.3). */
  readonly code: number | undefined;
  /** True if the other side closed the connection without an explanation: no reason code, no transport error. */
  readonly silent: boolean;
  /** True if this side closed the connection because a ping after a silence was not answered. */
  readonly unanswered: boolean;
  /** True if this side closed the connection because the broker responded to pings but acknowledged nothing. */
  readonly overdue: boolean;
  /** The error, if there was one. */
  readonly cause: Error | undefined;
}

/** Reason codes: Unacceptable protocol version in 3.1.1, Unsupported Protocol Version in 5. */
const versionRefused: readonly (number | undefined)[] = [0x01, 0x84];

/**
 * Tries MQTT 5 first, then MQTT 3.1.1 if the broker refuses MQTT 5, and keeps the version that worked. Some brokers
 * refuse with a CONNACK. Others just close the connection, which counts as a refusal only until a version has worked,
 * since a broker that restarts closes connections too.
 */
export class ProtocolChoice {
  readonly #fixed: boolean;
  #worked = false;
  #version: Version;

  constructor(protocol: 'auto' | Version) {
    this.#fixed = protocol !== 'auto';
    this.#version = protocol === 'auto' ? 5 : protocol;
  }

  /** The version to try next. */
  get version(): Version {
    return this.#version;
  }

  /** Records that the broker accepted {@link version}. */
  accepted(): void {
    this.#worked = true;
  }

  /** Records the end of a connection. Returns true if 3.1.1 should be tried at once instead of after a delay. */
  ended(closing: Closing): boolean {
    if (this.#fixed) return false;
    if (versionRefused.includes(closing.code) && closing.stage === 'connecting') this.#worked = false;
    else if (this.#worked) return false;
    else if (!closing.silent || closing.stage !== 'connecting') {
      this.#version = 5;
      return false;
    }
    this.#version = this.#version === 5 ? 4 : 5;
    return this.#version === 4;
  }
}
