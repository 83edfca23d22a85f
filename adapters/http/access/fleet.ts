/** Access control of the fleet side: HTTP Basic (RFC 7617), query `client_id`, and a client certificate if required. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { networkOf, wideNetworkOf } from '../../../protocol/ip-networks.ts';
import type { Caller } from '../call.ts';
import { type Credentials, type Gate, type RequestedAccess, sameText } from './credentials.ts';
import { Failures, TooManyRequests } from './failures.ts';
import { impossibleHash, type PasswordHash, verifyPassword } from './password.ts';
import { PasswordChecks } from './password-checks.ts';

export interface FleetUser {
  readonly name: string;
  readonly password: PasswordHash;
  readonly clientId: string;
  /** Ids of the fleets that the user may access. */
  readonly fleets: readonly string[];
  /** Required subject of the client's certificate, e.g. `O=Example, CN=fleet`; undefined: not required */
  readonly certificate?: string;
}

/** Maximum number of cached logins; there is one for each user and address. */
const MAX_PROVEN = 1_000;
/** Maximum length of a user name in characters. */
const MAX_NAME_LENGTH = 128;

interface Known {
  readonly user: FleetUser;
  readonly caller: Caller;
  readonly subject: string | undefined;
}

/** A login and its sender. */
interface Login {
  readonly name: string;
  readonly password: string;
  readonly known: Known | undefined;
  /** True if the client presents the certificate that this user must have. */
  readonly certified: boolean;
  /** Key under which failures are counted: the sender's network, or the certificate. */
  readonly source: string;
  readonly remote: string;
}

export class FleetGate implements Gate {
  readonly challenge = 'Basic realm="vigie", charset="UTF-8"';
  readonly #users: ReadonlyMap<string, Known>;
  readonly #failures: Failures;
  /** Random key of this process, so that digests read from its memory are useless elsewhere. */
  readonly #key = randomBytes(32).toString('hex');
  readonly #nobody: PasswordHash;
  readonly #checks = new PasswordChecks();
  /** Running checks by name, source and digest: a client's simultaneous requests need only one password check. */
  readonly #checking = new Map<string, Promise<boolean>>();
  /**
   * Digest of the last correct password, by name and source: hashing the password for each request would take too long.
   * By source, because comparing a guess with the digest is cheap and would help other sources to guess.
   */
  readonly #proven = new Map<string, Buffer>();

  constructor(users: readonly FleetUser[], clock: Clock, failures = new Failures(clock)) {
    this.#failures = failures;
    this.#nobody = impossibleHash(users.map(({ password }) => password));
    this.#users = new Map(
      users.map((user) => {
        const caller = { name: user.name, fleets: new Set(user.fleets) };
        const subject = user.certificate === undefined ? undefined : subjectOf(user.certificate, /,\s*/);
        return [user.name, { user, caller, subject }];
      }),
    );
  }

  async admit(credentials: Credentials, { path }: RequestedAccess): Promise<Caller> {
    const caller = await this.#recognise(credentials);
    const fleet = path['fid'];
    if (fleet !== undefined && caller.fleets?.has(fleet) === false) {
      throw new VigieError('request.forbidden', 'fid: the caller may not see this fleet');
    }
    return caller;
  }

  async #recognise(credentials: Credentials): Promise<Caller> {
    const login = this.#loginOf(credentials);
    const { known, certified } = login;
    const [clientId = '', ...others] = credentials.clientIds;
    const client = sameText(clientId, known?.user.clientId ?? '') && clientId !== '' && others.length === 0;
    const mayEnter = client && (certified || known?.subject === undefined);
    const right = await this.#passwordIsRight(login, mayEnter);
    if (!right || !client || known === undefined) {
      throw new VigieError('request.unauthenticated', 'user name, password or client_id is wrong');
    }
    if (!mayEnter) throw new VigieError('request.unauthenticated', 'needs the client certificate of this user');
    return known.caller;
  }

  #loginOf({ authorization, certificate, remote }: Credentials): Login {
    const basic = readBasic(authorization);
    if (basic === undefined || basic.name.length > MAX_NAME_LENGTH)
      throw new VigieError('request.unauthenticated', 'needs HTTP Basic: user name and password');
    const known = this.#users.get(basic.name);
    const certified =
      known?.subject !== undefined && certificate !== undefined && subjectOf(certificate, '\n') === known.subject;
    return { ...basic, known, certified, remote, source: certified ? 'certificate' : networkOf(remote) };
  }

  /** @param mayEnter true if the client is admitted with the right password; otherwise the login counts as failed */
  #passwordIsRight(login: Login, mayEnter: boolean): Promise<boolean> {
    const { name, password, source } = login;
    const pair = `${source} ${name}`;
    const digest = createHash('sha256')
      .update(this.#key + password.normalize('NFC'))
      .digest();
    const check = `${mayEnter} ${digest.toString('base64')} ${pair}`;
    const same = this.#checking.get(check);
    if (same !== undefined) return same;
    const attempt = this.#failures.begin(name, source);
    const settle = (right: boolean): boolean => {
      if (!right || !mayEnter) attempt.failed();
      else {
        attempt.ended();
        this.#remember(pair, digest);
      }
      return right;
    };
    const proven = this.#proven.get(pair);
    if (proven !== undefined) return Promise.resolve(settle(timingSafeEqual(proven, digest)));
    const checking = this.#hash(login).then(settle, (error: unknown) => {
      attempt.ended();
      throw error;
    });
    this.#checking.set(check, checking);
    const forget = (): void => void this.#checking.delete(check);
    checking.then(forget, forget);
    return checking;
  }

  async #hash({ password, known, certified, source, remote, name }: Login): Promise<boolean> {
    const { strained } = this.#failures;
    const wait = this.#failures.waitOf(source);
    if (strained && wait > 0 && !certified) throw new TooManyRequests('too many failed logins', wait);
    const network = certified ? `certificate ${name}` : wideNetworkOf(remote);
    return this.#checks.run({ network, strained, preferred: certified }, () =>
      verifyPassword(password, known?.user.password ?? this.#nobody),
    );
  }

  #remember(pair: string, digest: Buffer): void {
    this.#proven.delete(pair);
    this.#proven.set(pair, digest);
    const [oldest] = this.#proven.keys();
    if (this.#proven.size > MAX_PROVEN && oldest !== undefined) this.#proven.delete(oldest);
  }
}

function readBasic(authorization: string | undefined): { name: string; password: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns the same string for the same subject, in whatever order its attributes are. */
function subjectOf(text: string, separator: string | RegExp): string {
  return JSON.stringify(text.split(separator).toSorted());
}
