/** A hub whose database is replaced by an older copy, on any database. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../adapters/keys/index.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { TestClock } from '../commands/remote-car.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { MemoryLog } from '../rig/log.ts';
import { Relay } from '../rig/relay.ts';

const VIN = 'VF3VGEHVBS0000001';
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

/** Database of a hub whose directory is `data`. The hub is stopped while the database is copied. */
export interface CopiedDatabase {
  readonly options: Pick<HubOptions, 'database'>;
  backUp(data: string): Promise<void>;
  restore(data: string): Promise<void>;
  /** Payloads of all messages. */
  payloads(data: string): Promise<readonly Uint8Array[]>;
}

const keyOf = ({ kind, seq, boot }: Message): string => `${classOf(kind)}/${seq}/${boot}`;

export function hubRestoreContract(name: string, create: () => Promise<CopiedDatabase>): void {
  test(`after an older copy of ${name} is restored, commands work and the car resends missing messages`, async () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-restore-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const database = await create();
    // Hub and car share simulated time, in which minutes pass quickly.
    const clock = new TestClock();
    const log = new MemoryLog();
    const start = (): Promise<Hub> => startHub({ data, ...database.options, port: 0, http: 0, clock, log });
    let hub = await start();
    onTestFinished(() => hub.stop());
    const relay = await Relay.open(Number(new URL(hub.broker).port));
    onTestFinished(() => relay.close());
    const car = new DrivingCar({ vin: VIN, url: relay.url, scenario: 'parked', trust: hub.trust, clock });
    onTestFinished(() => car.remove());
    await car.start();
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));

    const ask = async (method: string, path: string, body?: object): Promise<Json> => {
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = { method, headers: json, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      return (await car.during(fetch(`${hub.interface.url}/vigie/v1/vehicles/${VIN}${path}`, sent))).json();
    };
    const command = async (state: string): Promise<Json> => {
      const { remoteActionId } = await ask('POST', '/remotes', { door: { state } });
      for (;;) {
        const shown = await ask('GET', `/remotes/${remoteActionId}`);
        if (['Success', 'AlreadyDone', 'Failed'].includes(shown.status)) return shown;
      }
    };
    const restart = async (meanwhile: () => Promise<void>): Promise<void> => {
      await car.during(hub.stop());
      await meanwhile();
      hub = await car.during(start());
      relay.brokerPort = Number(new URL(hub.broker).port);
    };

    expect((await command('Locked')).status).toBe('Success');
    await restart(() => database.backUp(data));
    expect((await command('Unlocked')).status).toBe('Success');
    const last = await command('Locked');
    expect(last.status).toBe('Success');
    await restart(() => database.restore(data));
    expect((await ask('GET', '/remotes')).remotes).toHaveLength(1);

    const next = await command('Unlocked');
    expect(next.status).toBe('Success');
    expect(next.counter).toBeGreaterThan(last.counter);
    const missing = async (): Promise<number> =>
      (await ask('GET', '/numbers')).classes.reduce((sum: number, one: Json) => sum + one.missing.length, 0);
    expect(await missing()).toBeGreaterThan(0);
    while ((await missing()) > 0);
    const { remotes } = await ask('GET', '/remotes');
    const requests = remotes.filter(({ type }: Json) => type === 'Resend');
    expect(requests.length).toBeGreaterThan(0);
    expect(new Set(requests.map(({ requestedBy }: Json) => requestedBy))).toEqual(new Set(['hub']));
    expect((await ask('GET', '/numbers')).classes.flatMap(({ givenUp }: Json) => givenUp)).toEqual([]);

    await car.stop();
    await hub.stop();
    const kept = new Map((await database.payloads(data)).map((payload) => [keyOf(decodeMessage(payload)), payload]));
    for (const { payload, message } of car.acknowledged) {
      const key = keyOf(message);
      expect([key, Buffer.from(kept.get(key) ?? []).toString('hex')]).toEqual([
        key,
        Buffer.from(payload).toString('hex'),
      ]);
    }
  });

  test(`after an older copy of ${name} is restored, numbers of a car that does not trust the hub state why they stay missing`, async () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-distrust-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const database = await create();
    const clock = new TestClock();
    const log = new MemoryLog();
    const start = (): Promise<Hub> => startHub({ data, ...database.options, port: 0, http: 0, clock, log });
    let hub = await start();
    onTestFinished(() => hub.stop());
    const relay = await Relay.open(Number(new URL(hub.broker).port));
    onTestFinished(() => relay.close());
    const keys = join(data, 'keys of another hub');
    mkdirSync(keys);
    await generateKey(keys, 'other', { algorithm: 'ES256', kinds: ['Resend'] });
    const trust = join(keys, 'trust.json');
    const car = new DrivingCar({ vin: VIN, url: relay.url, scenario: 'parked', trust, clock });
    onTestFinished(() => car.remove());
    await car.start();
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));
    const restart = async (meanwhile: () => Promise<void>): Promise<void> => {
      await car.during(hub.stop());
      await meanwhile();
      hub = await car.during(start());
      relay.brokerPort = Number(new URL(hub.broker).port);
    };
    const numbers = async (): Promise<Json> =>
      (await car.during(fetch(`${hub.interface.url}/vigie/v1/vehicles/${VIN}/numbers`))).json();

    await restart(() => database.backUp(data));
    // A message that the hub acknowledges now may be older, sent again: the copy of the database has that one.
    const copied = clock.now();
    await car.until(() => car.acknowledged.some(({ message }) => message.at > copied));
    await restart(() => database.restore(data));
    let shown = await numbers();
    while (shown.trouble === undefined) shown = await numbers();
    expect(shown.trouble).toMatch(
      /^The car cannot be asked .* trusts \w+ for Resend, but this hub signs with \w+: copy keys\/trust\.json/,
    );
    expect(shown.classes.some(({ missing }: Json) => missing.length > 0)).toBe(true);
  });
}
