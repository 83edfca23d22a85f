/** The fleet side: HTTP Basic (RFC 7617), query `client_id`, and a client certificate where one is asked for. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { Caller } from '../call.ts';
import { type Credentials, type Gate, type RequestedAccess, sameText } from './credentials.ts';
import { Failures, TooManyRequests } from './failures.ts';
import { impossibleHash, type PasswordHash, verifyPassword } from './password.ts';

export interface FleetUser {
  readonly name: string;
  readonly password: PasswordHash;
  readonly clientId: string;
  /** Ids of the fleets that the user may see. */
  readonly fleets: readonly string[];
  /** Subject that the client's certificate must have, e.g. `O=Example, CN=fleet`; undefined: none required. */
  readonly certificate?: string;
}

/** Passwords being checked at a time: each takes memory and a thread. */
const CHECKS = 4;

interface Known {
  readonly user: FleetUser;
  readonly caller: Caller;
  readonly subject: string | undefined;
  /** Of the password that was right last; a hash takes too long to be made for each request. */
  digest: Buffer | undefined;
}

export class FleetGate implements Gate {
  readonly challenge = 'Basic realm="vigie", charset="UTF-8"';
  readonly #users: ReadonlyMap<string, Known>;
  readonly #failures: Failures;
  /** Made at start: without it, digests read from memory are useless. */
  readonly #key = randomBytes(32).toString('hex');
  readonly #nobody = impossibleHash();
  /** By user and digest: a client that begins with many requests at once has its password checked once. */
  readonly #checking = new Map<string, Promise<boolean>>();

  constructor(users: readonly FleetUser[], clock: Clock, failures = new Failures(clock)) {
    this.#failures = failures;
    this.#users = new Map(
      users.map((user) => {
        const caller = { name: user.name, fleets: new Set(user.fleets) };
        const subject = user.certificate === undefined ? undefined : subjectOf(user.certificate, /,\s*/);
        return [user.name, { user, caller, subject, digest: undefined }];
      }),
    );
  }

  async admit(credentials: Credentials, { path }: RequestedAccess): Promise<Caller> {
    this.#failures.check(credentials.remote);
    const caller = await this.#recognise(credentials);
    const fleet = path['fid'];
    if (fleet !== undefined && caller.fleets?.has(fleet) === false) {
      throw new VigieError('request.forbidden', 'fid: the caller may not see this fleet');
    }
    return caller;
  }

  async #recognise(credentials: Credentials): Promise<Caller> {
    const basic = readBasic(credentials.authorization);
    if (basic === undefined)
      throw new VigieError('request.unauthenticated', 'needs HTTP Basic: user name and password');
    const known = this.#users.get(basic.name);
    const right = await this.#passwordIsRight(basic.password, known);
    const [clientId = '', ...others] = credentials.clientIds;
    const client = sameText(clientId, known?.user.clientId ?? '') && clientId !== '' && others.length === 0;
    if (!right || !client || known === undefined) {
      this.#failures.failed(credentials.remote);
      throw new VigieError('request.unauthenticated', 'user name, password or client_id is wrong');
    }
    if (known.subject !== undefined && !this.#shows(credentials.certificate, known.subject)) {
      this.#failures.failed(credentials.remote);
      throw new VigieError('request.unauthenticated', 'needs the client certificate of this user');
    }
    return known.caller;
  }

  #shows(certificate: string | undefined, subject: string): boolean {
    return certificate !== undefined && subjectOf(certificate, '\n') === subject;
  }

  async #passwordIsRight(password: string, known: Known | undefined): Promise<boolean> {
    // For every request: at once, without the objects that an HMAC is made with.
    const digest = createHash('sha256')
      .update(this.#key + password)
      .digest();
    if (known?.digest !== undefined && timingSafeEqual(known.digest, digest)) return true;
    const name = `${known?.user.name ?? ''} ${digest.toString('hex')}`;
    const same = this.#checking.get(name);
    if (same !== undefined) return same;
    if (this.#checking.size >= CHECKS) throw new TooManyRequests('too many logins at a time', 1_000);
    const check = verifyPassword(password, known?.user.password ?? this.#nobody);
    this.#checking.set(name, check);
    try {
      const right = await check;
      if (right && known !== undefined) known.digest = digest;
      return right;
    } finally {
      this.#checking.delete(name);
    }
  }
}

function readBasic(authorization: string | undefined): { name: string; password: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** A subject whatever the order of its attributes. */
function subjectOf(text: string, separator: string | RegExp): string {
  return JSON.stringify(text.split(separator).toSorted());
}
