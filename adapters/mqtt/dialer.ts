/** Keeps one connection to one of several brokers: connects, falls back, waits and connects again, without end. */
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { Backoff, type BackoffOptions } from './backoff.ts';
import { Connection, type Identity, type Incoming } from './connection.ts';
import { type Closing, ProtocolChoice, type Version } from './protocol-choice.ts';
import { reasonText } from './publishing.ts';
import type { Target } from './socket.ts';

export interface DialerOptions {
  readonly targets: readonly Target[];
  readonly protocol: 'auto' | Version;
  readonly identity: Identity;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  readonly log: Log;
}

export interface DialerEvents {
  ready(connection: Connection, sessionPresent: boolean): void;
  message(message: Incoming): void;
  /** A connection that was ready has ended. */
  lost(connection: Connection, reason: string): void;
  /** All addresses were tried in vain; the next round follows after a wait. */
  failed(error: VigieError): void;
}

/** Milliseconds a connection must have lasted for the next wait to be a first one again. */
const stable = 30_000;

export class Dialer {
  readonly #options: DialerOptions;
  readonly #events: DialerEvents;
  readonly #backoff: Backoff;
  /** What each address speaks, by its position. */
  readonly #choices: readonly ProtocolChoice[];
  #at = 0;
  /** Addresses tried since the last wait. */
  #tried = 0;
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: DialerOptions, events: DialerEvents) {
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff(options.backoff, options.random);
    this.#choices = options.targets.map(() => new ProtocolChoice(options.protocol));
    this.#dial();
  }

  /** No further attempt; a connection that is not ready yet is destroyed, one that is ready stays. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#connection !== undefined && !this.#connection.accepted) this.#connection.destroy('closed by this side');
  }

  #dial(): void {
    const target = this.#options.targets[this.#at];
    const choice = this.#choices[this.#at];
    if (target === undefined || choice === undefined) throw new RangeError(`no broker address ${this.#at}`);
    let since = 0;
    const connection = new Connection(target, choice.version, this.#options.identity, {
      ready: (sessionPresent) => {
        since = performance.now();
        choice.accepted();
        this.#tried = 0;
        this.#options.log.info('link.connected', { broker: target.address.text, protocol: choice.version });
        this.#events.ready(connection, sessionPresent);
      },
      message: (message) => this.#events.message(message),
      oversize: (bytes) =>
        this.#options.log.warn('link.oversize', { bytes, allowed: this.#options.identity.maximumPacket }),
      closed: (closing) => {
        this.#connection = undefined;
        const lasted = closing.stage === 'connected' && performance.now() - since >= stable;
        if (lasted) this.#backoff.reset();
        if (closing.stage === 'connected') {
          this.#options.log.info('link.ended', { broker: target.address.text, reason: closing.reason });
          this.#events.lost(connection, closing.reason);
        }
        this.#next(connection, choice, closing, lasted);
      },
    });
    this.#connection = connection;
  }

  #next(connection: Connection, choice: ProtocolChoice, closing: Closing, lasted: boolean): void {
    const again = choice.ended(closing);
    if (this.#stopped) return;
    if (again) {
      this.#options.log.info('link.fallback', { broker: connection.target.address.text, protocol: choice.version });
      this.#dial();
      return;
    }
    const error = closing.stage === 'connected' ? undefined : unreachable(connection, closing);
    if (error !== undefined) {
      this.#options.log.warn('link.unreachable', { broker: connection.target.address.text, reason: error.message });
    }
    // After a connection that was good the same broker comes first: it holds the session and what waits in it.
    if (!lasted) this.#at = (this.#at + 1) % this.#options.targets.length;
    // A loss always costs a wait, so that a fleet does not fall upon the next broker at one moment.
    if (error !== undefined && ++this.#tried < this.#options.targets.length) {
      this.#dial();
      return;
    }
    this.#tried = 0;
    this.#timer = setTimeout(() => this.#dial(), this.#backoff.next());
    if (error !== undefined) this.#events.failed(error);
  }
}

/** What a person can do about a broker that cannot be reached, by what the system or the broker says. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no broker listens there; start it or correct the address',
  ENOTFOUND: 'the name is not known; correct it or check the name server',
  EAI_AGAIN: 'the name server does not answer; check the network',
  EHOSTUNREACH: 'there is no way to that host; check the network',
  ENETUNREACH: 'there is no network; check the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: "the broker's certificate is self-signed; give it as ca",
  SELF_SIGNED_CERT_IN_CHAIN: "the authority of the broker's certificate is not trusted; give it as ca",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the authority of the broker's certificate is not trusted; give it as ca",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the authority of the broker's certificate is not trusted; give it as ca",
  CERT_HAS_EXPIRED: "the broker's certificate has expired; renew it, or set this machine's clock",
  CERT_NOT_YET_VALID: "the broker's certificate is not valid yet; set this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "the broker's certificate is for another name; use that name as host",
  EPROTO: 'the other side does not speak TLS as expected; check scheme, port and certificates',
};

/** Reason codes that are about who we are: 3.1.1 clause 3.2.2.3 codes 2, 4, 5; MQTT 5 clause 3.2.2.2 from 0x85. */
const identityRefused: readonly number[] = [0x02, 0x04, 0x05, 0x85, 0x86, 0x87, 0x8a, 0x8c];

function unreachable(connection: Connection, closing: Closing): VigieError {
  const cause = closing.cause;
  const systemCode = cause !== undefined && 'code' in cause ? String(cause.code) : '';
  const said = closing.code === undefined ? closing.reason : reasonText(closing.code);
  let todo = advice[systemCode];
  if (closing.code !== undefined && identityRefused.includes(closing.code)) {
    todo = 'the broker does not let this client in; check client id, user, password and certificate';
  }
  todo ??= 'check that address, port and scheme (mqtt or mqtts) are those of an MQTT broker';
  return new VigieError('link.refused', `cannot connect: ${said} (${todo})`, {
    where: connection.target.address.text,
    cause,
  });
}
