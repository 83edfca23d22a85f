/** Chooses the protocol version for a broker without a configured version. */

/** MQTT 5 or MQTT 3.1.1, as the CONNECT packet numbers them. */
export type Version = 5 | 4;

/** Name of a version, for people. */
export function protocolName(version: Version): '5' | '3.1.1' {
  return version === 5 ? '5' : '3.1.1';
}

/** How far a connection came and why it ended. */
export interface Closing {
  /** `dialing`: no transport; `connecting`: transport, but no CONNACK that accepts; `connected`: accepted. */
  readonly stage: 'dialing' | 'connecting' | 'connected';
  /** For people. */
  readonly reason: string;
  /** Reason code of a CONNACK or DISCONNECT (MQTT 5 clause 2.4, MQTT 3.1.1 clause 3.2.2.3). */
  readonly code: number | undefined;
  /** The other side ended it without a word: no reason code, no fault of the transport. */
  readonly silent: boolean;
  /** This side ended it because a question after a silence got no answer. */
  readonly unanswered: boolean;
  /** This side ended it because the broker, though it was there, acknowledged nothing. */
  readonly overdue: boolean;
  /** The fault, when there is one. */
  readonly cause: Error | undefined;
}

/** Unacceptable protocol version in 3.1.1, Unsupported Protocol Version in 5. */
const versionRefused: readonly (number | undefined)[] = [0x01, 0x84];

/**
 * Tries MQTT 5 first and MQTT 3.1.1 when that is refused, and keeps to what worked. Some brokers say so in a
 * CONNACK; others just close the connection, which is taken for a refusal only as long as no version ever worked:
 * a broker that is being restarted closes connections too.
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

  /** The broker accepted {@link version}. */
  accepted(): void {
    this.#worked = true;
  }

  /** A connection ended; true when 3.1.1 is to be tried at once instead of after a wait. */
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
