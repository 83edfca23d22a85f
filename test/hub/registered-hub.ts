/** A hub with a registry: fleets `north` and `south` with one car each, owned by the users `ada` and `bob`. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { TokenGrant, TokenKeys } from '../../hub/http/access.ts';
import { issueAccess } from '../../hub/start/access.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { type OpenRegistry, openRegistry } from '../../hub/start/registry.ts';
import { defined } from '../../protocol/defined.ts';
import type { Body, BodyKind } from '../../protocol/schema/message.ts';
import { upTopic } from '../../protocol/topics.ts';
import { MemoryLog } from '../rig/log.ts';
import { MqttClient } from '../rig/mqtt-client.ts';
import { hubTokenKeys } from './hub-tokens.ts';
import { type MessageOptions, payloadOf } from './messages.ts';

export const [NORTH, SOUTH] = ['VF3VGEHVBN0000001', 'VF3VGEHVBS0000002'] as const;
/** Cars and their owners. */
const cars = [
  { vin: NORTH, fleet: 'north', user: 'ada' },
  { vin: SOUTH, fleet: 'south', user: 'bob' },
] as const;

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

export interface Asked {
  readonly status: number;
  readonly body: Json;
}

/** Token claims. The token is valid for `LASTS_MS` unless it states times. */
export type Grant = Partial<TokenGrant>;
const LASTS_MS = 600_000;
const PASSWORD = 'password';

export class RegisteredHub {
  readonly data = mkdtempSync(join(tmpdir(), 'vigie-hub-rights-'));
  readonly log = new MemoryLog();
  #open: OpenRegistry | undefined;
  #hub: Hub | undefined;
  #database: string | undefined;

  async start(options: Partial<HubOptions> = {}): Promise<this> {
    const { data, log } = this;
    const { database } = options;
    this.#database = database;
    this.#open = await openRegistry({ data, ...defined({ database }) }, log);
    const { registry } = this.#open;
    for (const { vin, fleet, user } of cars) {
      const owners = [{ kind: 'fleet', id: fleet } as const, { kind: 'user', id: user } as const];
      await registry.add(vin, owners, Date.now());
      await registry.setPassword(vin, digestOf(PASSWORD));
    }
    this.#hub = await startHub({ data, port: 0, http: 0, clock: new SystemClock(), log, ...options });
    return this;
  }

  get hub(): Hub {
    if (this.#hub === undefined) throw new Error('not started');
    return this.#hub;
  }

  get open(): OpenRegistry {
    if (this.#open === undefined) throw new Error('not started');
    return this.#open;
  }

  async remove(): Promise<void> {
    await this.#open?.close();
    await this.#hub?.stop();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Returns an `Authorization` header with a new token. */
  async bearer(grant: Grant): Promise<string> {
    const issued = Date.now();
    const all = { name: 'ops', scopes: [], issued, expires: issued + LASTS_MS, ...grant };
    return `Bearer ${await issueAccess(await this.#keys(), this.open.registry, all)}`;
  }

  /** Like {@link bearer}, with claims that the hub itself would never sign. */
  async forged(sub: string, claims: Readonly<Record<string, unknown>>): Promise<string> {
    const { key } = await (await this.#keys()).signer();
    const id = randomUUID();
    const issued = Date.now();
    await this.open.registry.addToken({ id, name: sub, scopes: [], issued, expires: issued + LASTS_MS });
    const token = new SignJWT(claims).setJti(id).setProtectedHeader({ alg: 'EdDSA' }).setIssuer('vigie-hub');
    return `Bearer ${await token.setAudience('vigie-hub').setSubject(sub).setIssuedAt().setExpirationTime('10m').sign(key)}`;
  }

  #keys(): Promise<TokenKeys> {
    return hubTokenKeys({ data: this.data, ...defined({ database: this.#database }) });
  }

  async ask(path: string, authorization?: string, body?: object, method?: string): Promise<Asked> {
    const url = path.startsWith('http') ? path : `${this.hub.interface.url}${path}`;
    const response = await fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        ...defined({ authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Publishes messages as a car. Resolves when the hub has stored them. */
  async publish(
    vin: string,
    ...messages: readonly (readonly [kind: BodyKind, body: object, options?: MessageOptions])[]
  ) {
    const car = await MqttClient.connect(this.hub.broker, { clientId: vin, username: vin, password: PASSWORD });
    for (const [kind, body, options] of messages) {
      const payload = payloadOf(kind, body as Body<typeof kind>, { vin, ...options });
      const answer = await car.publish(upTopic(vin, kind), payload);
      if (answer !== 'acknowledged') throw new Error(`the hub did not acknowledge a ${kind}: ${answer}`);
    }
    await car.end();
  }
}
