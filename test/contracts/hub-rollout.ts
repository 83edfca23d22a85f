/** Roll-outs of configurations to real agents, through a hub on any database. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKey, readTrust } from '../../adapters/keys/index.ts';
import { digestOf } from '../../assembly/sent-files.ts';
import type { RolloutStore } from '../../hub/core/rollout-store.ts';
import { continueRollout, earlierRollout } from '../../hub/core/rollouts.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { openRegistry } from '../../hub/start/registry.ts';
import { rolloutOrder } from '../../hub/start/rollout-order.ts';
import { encodeBody } from '../../protocol/command.ts';
import { TestClock } from '../commands/remote-car.ts';
import { ConfiguredCar, configurationOf } from '../hub/configured-car.ts';
import { MemoryLog } from '../rig/log.ts';
import { Relay } from '../rig/relay.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

const VINS = ['A', 'B', 'C', 'D'].map((letter) => `VF3VGEHVB${letter}0000041`);
const [A, B, C, D] = VINS as [string, string, string, string];

/**
 * Step of time while agents and hub work, small so that disk and network keep up. Ten idle minutes use larger steps.
 */
const STEP = 100;
const IDLE = 2_000;

const profile = `profile: 1
name: small
title: Sent by the hub
buses: [{ name: body, dbc: [dbc/small.dbc] }]
status: { kinetic.speed: { signal: SPEEDS.Speed } }
`;
const dbc = `VERSION ""

BU_: UNIT

BO_ 256 SPEEDS: 8 UNIT
 SG_ Speed : 0|16@1+ (0.01,0) [0|655] "km/h" UNIT
`;

class Fleet {
  readonly folder = mkdtempSync(join(tmpdir(), 'vigie-hub-rollout-'));
  readonly clock = new TestClock();
  readonly log = new MemoryLog();
  readonly cars = new Map<string, ConfiguredCar>();
  readonly #options: Pick<HubOptions, 'database'>;
  hub!: Hub;
  relay!: Relay;
  rollouts!: RolloutStore;

  constructor(options: Pick<HubOptions, 'database'>) {
    this.#options = options;
  }

  /** Starts a hub, and these cars, which have reported to it. */
  static async with(options: Pick<HubOptions, 'database'>, vins: readonly string[]): Promise<Fleet> {
    const fleet = new Fleet(options);
    onTestFinished(() => fleet.#remove());
    await fleet.startHub();
    fleet.relay = await Relay.open(Number(new URL(fleet.hub.broker).port));
    const open = await openRegistry({ data: join(fleet.folder, 'hub'), ...options }, fleet.log);
    onTestFinished(() => open.close());
    fleet.rollouts = open.rollouts;
    for (const vin of vins) await fleet.add(vin);
    return fleet;
  }

  async startHub(): Promise<void> {
    const { clock, log } = this;
    this.hub = await startHub({ data: join(this.folder, 'hub'), ...this.#options, port: 0, http: 0, clock, log });
    if (this.relay !== undefined) this.relay.brokerPort = Number(new URL(this.hub.broker).port);
  }

  /** `trust`: file with the keys that the car trusts. */
  async add(vin: string, trust = this.hub.trust): Promise<ConfiguredCar> {
    const { clock } = this;
    const car = new ConfiguredCar({ vin, url: this.relay.url, trust, clock });
    this.cars.set(vin, car);
    car.start();
    await this.until(async () => (await this.ask('GET', '/vehicles')).vehicles.some((one: Json) => one.vin === vin));
    // The pause keeps the cars from being heard in the same millisecond.
    await this.pass(1_000);
    return car;
  }

  /** Advances time until the condition holds. */
  async until(holds: () => Promise<boolean>, step = STEP): Promise<void> {
    while (!(await holds())) {
      this.clock.virtual.advance(step);
      await setTimeout(2);
    }
  }

  async pass(time: number): Promise<void> {
    const end = this.clock.now() + time;
    await this.until(async () => this.clock.now() >= end, Math.min(time, IDLE));
  }

  async ask(method: string, path: string): Promise<Json> {
    return (await fetch(`${this.hub.interface.url}/vigie/v1${path}`, { method })).json();
  }

  /** Begins a roll-out of a configuration that is valid for cars at this broker. */
  async begin(
    first: number,
    more: { url?: string; tolerated?: number; can?: string; dbc?: string } = {},
  ): Promise<string> {
    const file = join(this.folder, 'fleet.yaml');
    mkdirSync(join(this.folder, 'car', 'dbc'), { recursive: true });
    writeFileSync(join(this.folder, 'car', 'profile.yaml'), profile);
    writeFileSync(join(this.folder, 'car', 'dbc', 'small.dbc'), more.dbc ?? dbc);
    writeFileSync(join(this.folder, 'drive.log'), '');
    const { url = this.relay.url, tolerated = 0 } = more;
    const text = configurationOf({ url, trust: this.hub.trust }, './car/profile.yaml');
    writeFileSync(file, more.can === undefined ? text : text.replace('log: drive.log', more.can));
    const id = randomUUID();
    const body = encodeBody('Configuration', rolloutOrder(file, id));
    const created = this.clock.now();
    const rollout = { id, fleet: 'local', name: 'fleet.yaml', caller: 'ops', created, first, tolerated };
    await this.rollouts.begin({ ...rollout, body, digest: digestOf(body) });
    return id;
  }

  /** Roll-out state of each car. */
  async states(id: string): Promise<Record<string, string>> {
    const { cars } = await this.ask('GET', `/rollouts/${id}`);
    return Object.fromEntries(cars.map(({ vin, state }: Json) => [vin, state]));
  }

  async untilStates(id: string, states: Record<string, string>): Promise<void> {
    const wanted = JSON.stringify(states);
    await this.until(async () => JSON.stringify(await this.states(id)) === wanted);
  }

  /** Configuration commands that the hub sent to a car. */
  async sent(vin: string): Promise<Json[]> {
    const { remotes } = await this.ask('GET', `/vehicles/${vin}/remotes`);
    return remotes.filter(({ type }: Json) => type === 'Configuration');
  }

  async #remove(): Promise<void> {
    const stopping = [...this.cars.values()].map((car) => car.remove());
    let stopped = false;
    void Promise.allSettled(stopping).then(() => {
      stopped = true;
    });
    await this.until(async () => stopped);
    await Promise.all(stopping);
    await this.hub.stop();
    await this.relay.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function hubRolloutContract(name: string, create: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`roll-outs with ${name}`, () => {
    test('a configuration with profile and DBC reaches one car, then all, including absent and new cars, although hubs are killed', async () => {
      const fleet = await Fleet.with(await create(), [C, B, A]);
      const away = fleet.cars.get(C) as ConfiguredCar;
      const stopping = away.stop();
      await fleet.pass(1_000);
      await stopping;
      const id = await fleet.begin(1);
      // The car that was heard last.
      await fleet.until(async () => (await fleet.states(id))[A] !== 'waiting');
      await fleet.hub.stop();
      await fleet.startHub();
      await fleet.untilStates(id, { [A]: 'applied' });
      expect(fleet.cars.get(A)?.vehicle?.profile.title).toBe('Sent by the hub');
      await fleet.pass(60_000);
      expect(await fleet.states(id)).toEqual({ [A]: 'applied' });
      expect(await fleet.sent(B)).toEqual([]);

      expect(await fleet.ask('POST', `/rollouts/${id}/continue`)).toMatchObject({ stage: 'all' });
      await fleet.untilStates(id, { [A]: 'applied', [B]: 'applied', [C]: 'waiting' });
      await fleet.hub.stop();
      await fleet.startHub();
      away.start();
      await fleet.add(D);
      await fleet.untilStates(id, { [A]: 'applied', [B]: 'applied', [C]: 'applied', [D]: 'applied' });
      for (const vin of VINS) {
        expect(fleet.cars.get(vin)?.vehicle?.profile.title).toBe('Sent by the hub');
        const [command] = await fleet.sent(vin);
        expect(command).toMatchObject({
          body: { rollout: id, name: 'fleet.yaml' },
          requestedBy: `rollout ${id}`,
          status: 'Success',
        });
      }
      const reported = await fleet.rollouts.configurations('', 10);
      expect(reported.map(({ vin, state }) => [vin, state])).toEqual(VINS.map((vin) => [vin, 'applied']));
      expect((await fleet.ask('GET', '/rollouts')).rollouts).toMatchObject([
        { id, states: { applied: 4, waiting: 0 } },
      ]);
    });

    test('a car that reverts stops the roll-out before any other car gets the configuration', async () => {
      const fleet = await Fleet.with(await create(), [B, A]);
      const id = await fleet.begin(1, { url: 'mqtt://127.0.0.1:1' });
      const car = fleet.cars.get(A) as ConfiguredCar;
      await fleet.until(async () => car.vehicle?.profile.name === 'small');
      // Ten minutes without the broker.
      await fleet.until(async () => car.log.lines.some(({ event }) => event === 'configuration.reverted'), IDLE);
      await fleet.untilStates(id, { [A]: 'returned' });
      await fleet.until(async () => (await fleet.ask('GET', `/rollouts/${id}`)).stage === 'stopped');
      const shown = await fleet.ask('GET', `/rollouts/${id}`);
      expect(shown.reason).toContain(`1 car returned or refused it, such as ${A}`);
      expect(shown.cars[0].detail).toContain('the broker was not reached within 10 minutes');
      expect(car.vehicle?.profile.name).toBe('bench');
      await expect(continueRollout(fleet.rollouts, id)).rejects.toThrow('1 car returned or refused it');
      await expect(continueRollout(fleet.rollouts, id, 1)).rejects.toThrow('no car has reported');
      expect(await fleet.ask('POST', `/rollouts/${id}/continue`)).toMatchObject({
        message: expect.stringContaining('the roll-out does not go on'),
      });
      await fleet.pass(60_000);
      expect(await fleet.sent(B)).toEqual([]);
    });

    test('a car that trusts only another key is refused every command at once, with both keys named', async () => {
      const fleet = await Fleet.with(await create(), []);
      const { kid } = await generateKey(join(fleet.folder, 'other'), 'other', {
        algorithm: 'ES256',
        kinds: ['Configuration'],
      });
      const [own] = await readTrust(dirname(fleet.hub.trust));
      await fleet.add(A, join(fleet.folder, 'other', 'trust.json'));
      const why = new RegExp(`the car trusts ${kid} for Configuration, but this hub signs with ${own?.kid}`);
      const id = await fleet.begin(1);
      await fleet.untilStates(id, { [A]: 'refused' });
      expect((await fleet.ask('GET', `/rollouts/${id}`)).cars[0].detail).toMatch(why);
      await fleet.until(async () => (await fleet.ask('GET', `/rollouts/${id}`)).stage === 'stopped');
      const refused = await fetch(`${fleet.hub.interface.url}/vigie/v1/vehicles/${A}/remotes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ label: 'lock', door: { state: 'Locked' } }),
      });
      const message = expect.stringContaining('trusts no key for Doors');
      expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ message })]);
      expect(await fleet.ask('GET', `/vehicles/${A}/remotes`)).toMatchObject({ remotes: [] });
    });

    test('a car that reads nothing with the configuration returns, although it reaches the broker', async () => {
      const fleet = await Fleet.with(await create(), [A]);
      const good = await fleet.begin(1);
      await fleet.untilStates(good, { [A]: 'applied' });
      for (const [wrong, why] of [
        [{ dbc: dbc.replace('BO_ 256', 'BO_ 257'), can: 'log: drive.log, loop: true' }, 'body carries data, but no'],
        [{ can: 'slcan: "tcp://127.0.0.1:1"' }, 'body does not run: '],
      ] as const) {
        const id = await fleet.begin(1, wrong);
        await fleet.until(async () => (await fleet.states(id))[A] === 'trial');
        await fleet.until(async () => (await fleet.states(id))[A] !== 'trial', IDLE / 2);
        const { cars } = await fleet.ask('GET', `/rollouts/${id}`);
        expect(cars).toMatchObject([{ state: 'returned', detail: expect.stringContaining(why) }]);
        expect(fleet.cars.get(A)?.vehicle?.profile.title).toBe('Sent by the hub');
      }
      const { name, order } = await earlierRollout(fleet.rollouts, 'local', 'back');
      expect([name, order.label]).toEqual(['fleet.yaml', 'back']);
      await expect(earlierRollout(fleet.rollouts, 'local', 'back', 'unknown')).rejects.toThrow('no earlier roll-out');
    });

    test('a stopped roll-out reaches no further car, and a new one replaces it', async () => {
      const fleet = await Fleet.with(await create(), [B, A]);
      const id = await fleet.begin(1);
      await fleet.untilStates(id, { [A]: 'applied' });
      expect(await fleet.ask('POST', `/rollouts/${id}/stop`)).toMatchObject({ reason: 'stopped by local' });
      await fleet.pass(60_000);
      expect(await fleet.sent(B)).toEqual([]);
      expect(fleet.cars.get(A)?.vehicle?.profile.title).toBe('Sent by the hub');
      const next = await fleet.begin(2);
      await fleet.untilStates(next, { [A]: 'applied', [B]: 'applied' });
      expect((await fleet.ask('GET', '/rollouts')).rollouts.map((one: Json) => one.id)).toEqual([next, id]);
      expect(await fleet.ask('POST', `/rollouts/${id}/continue`)).toMatchObject({
        message: `the roll-out does not go on: roll-out "${next}" of the same fleet is under way; stop it first`,
      });
      for (const [state, vins] of [
        ['applied', [A, B]],
        ['returned', []],
      ] as const) {
        const { cars } = await fleet.ask('GET', `/rollouts/${next}?state=${state}`);
        expect(cars.map(({ vin }: Json) => vin)).toEqual(vins);
      }
      expect(await fleet.ask('GET', `/rollouts/${next}?state=lost`)).toMatchObject({
        message: expect.stringContaining('state'),
      });
    });
  });
}
