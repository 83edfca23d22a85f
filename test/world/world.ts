/**
 * A world in one process and on one clock: cars with real agents, a network and a broker, the hub, drivers, and senders
 * of commands. Everything that happens follows from a plan, which follows from a seed.
 */

import type { OutgoingMessage } from '../../agent/ports.ts';
import { Broker } from './broker.ts';
import { Caller, isOfCaller } from './caller.ts';
import { WorldCar } from './car.ts';
import { Chance } from './chance.ts';
import type { DiskFaults } from './disk.ts';
import { BEGIN, WorldHub } from './hub.ts';
import { type Breach, Breaches, INVARIANTS } from './invariants.ts';
import { hubKey } from './keys.ts';
import { Observer } from './observer.ts';
import { endFaults, happenTo, type Place, type PowerCut, SYNC } from './place.ts';
import { type Happening, isFault, type Plan } from './plan.ts';
import { WorldTime } from './time.ts';
import { Trace } from './trace.ts';
import { Unit } from './unit.ts';

/** Interval of the checks for invariants that no event triggers, ms. */
const LOOK = 5_000;
/** Time after the last event within which a world must come to rest, ms. */
const REST = 3_600_000;
/** Range of times after which a revoked key is used again, ms. */
const REVOKED_KEY_IS_USED = [1_000, 30_000];
/** Time for which a command of the hub is valid, ms, as in `hub/core/commands.ts`. */
const HUB_VALID = 120_000;
/** Maximum duration of a sync before an orderly stop, ms. */
const SLOW_SYNC = 300;
/** Number of looks at a restless world after which its cars connect again. */
const LOOKS_TO_CONNECT = 60;
/** Time by which Status has been sent, ms. */
const QUIET = 150_000;

export interface Outcome {
  readonly breaches: readonly Breach[];
  /** Hash of everything that happened. */
  readonly hash: string;
  readonly story: readonly string[];
  readonly faults: number;
  readonly lines: number;
  readonly counts: Observer['counts'];
  /** World time, ms. */
  readonly lasted: number;
}

/**
 * Runs a plan to its end, always with the same outcome for the same plan.
 * @param breached receives each breach when it is found
 */
export async function runWorld(plan: Plan, breached?: (breach: Breach) => void): Promise<Outcome> {
  const world = new World(plan, breached);
  try {
    return await world.live();
  } finally {
    world.close();
  }
}

class World {
  readonly #plan: Plan;
  readonly #time = new WorldTime();
  readonly #chance: Chance;
  readonly #trace = new Trace();
  readonly #places: Place[] = [];
  readonly #breaches: Breaches;
  readonly #broker: Broker;
  readonly #caller: Caller;
  readonly #observer: Observer;
  #hub: WorldHub | undefined;
  #faults = 0;
  #hubCommands = 0;

  constructor(plan: Plan, breached?: (breach: Breach) => void) {
    this.#plan = plan;
    const time = this.#time;
    const chance = new Chance(`world ${plan.seed}`);
    this.#chance = chance;
    const vins = Array.from({ length: plan.cars }, (_, i) => `VF3VGEWRLD000000${i + 1}`);
    this.#breaches = new Breaches(
      () => time.now,
      (breach) => {
        this.#tell('!', `${INVARIANTS[breach.invariant]} Not so: ${breach.detail.slice(0, 500)}`);
        breached?.(breach);
      },
    );
    this.#broker = new Broker({
      time,
      chance: chance.fork('broker'),
      deliver: (topic, payload) => this.#hub?.accept(topic, payload) ?? Promise.reject(new Error('there is no hub')),
      embedded: plan.embedded,
      subscribed: (vin) => this.#hub?.subscribed(vin),
    });
    this.#caller = new Caller({ time, broker: this.#broker, vins, now: () => time.now + BEGIN });
    const cars = new Map(vins.map((vin) => [vin, new WorldCar(time, chance.fork(`car ${vin}`))]));
    this.#observer = new Observer({
      time,
      cars,
      breaches: this.#breaches,
      commands: this.#caller.sent,
      keepsAll: plan.embedded,
      tell: (who, what) => this.#tell(who, what),
      note: (who, what, bytes) => this.#trace.note(time.now, who, what, bytes),
      restarts: (unit) => this.#begin(unit),
      reconfigured: (unit) => this.#stop(unit, { cuts: false, off: 0 }),
      revoked: (vin, key) => {
        for (const after of REVOKED_KEY_IS_USED) {
          time.after(after, () => this.#tell('caller', this.#caller.useRevoked(vin, key)));
        }
      },
    });
    for (const [vin, car] of cars) {
      const faults: DiskFaults = {
        refuses: () => {
          if (place.code !== undefined) unit.diskRefused = true;
          return place.code;
        },
        unreadable: (path) => (path.includes(place.unreadable?.what ?? '') ? place.unreadable?.code : undefined),
        touched: (path) => {
          // A running agent may release a segment that contains no waiting messages.
          if (unit.run === undefined) this.#breaches.add('untouched', `${vin} ${path}`);
        },
        syncTakes: () => 1 + chance.below(place.takes),
        operated: (operation, path) => this.#operated(place, operation, path),
      };
      const unit = new Unit({
        vin,
        time,
        car,
        faults,
        broker: this.#broker,
        watcher: this.#observer,
        chance: chance.fork(`unit ${vin}`),
        outboxLimit: plan.outboxLimit,
        signals: plan.signals === true,
        fleet: plan.fleet === true,
        exits: plan.exits === true,
        callbacks: plan.callbacks === true,
        rollouts: plan.rollouts === true,
        sleeps: plan.sleeps === true,
      });
      const place: Place = {
        car,
        unit,
        code: undefined,
        unreadable: undefined,
        takes: SYNC,
        pending: undefined,
        damage: undefined,
        operationsLeft: 0,
      };
      this.#places.push(place);
    }
  }

  async live(): Promise<Outcome> {
    const { length, happenings } = this.#plan;
    const time = this.#time;
    const hub = await WorldHub.open({
      time,
      chance: this.#chance.fork('hub'),
      send: (vin, topic, payload) => this.#broker.send(vin, topic, payload),
      log: {
        info: (event, fields) => this.#trace.note(time.now, 'hub', `${event} ${JSON.stringify(fields)}`),
        warn: (event, fields) => this.#tell('hub', `logs warn: ${event} ${JSON.stringify(fields)}`),
        error: (event, fields) => this.#tell('hub', `logs error: ${event} ${JSON.stringify(fields)}`),
      },
      lacks: (what) => this.#breaches.add('committed', what),
      callbacks: this.#plan.callbacks === true,
      rollouts: this.#plan.rollouts === true,
      broken: (invariant, what) => this.#breaches.add(invariant, what),
      vins: this.#plan.fleet === true ? this.#places.map(({ unit }) => unit.vin) : undefined,
    });
    this.#hub = hub;
    hub.start();
    for (const { unit } of this.#places) {
      const prepared = unit.prepare();
      await this.#pass(time.now + 1_000);
      await prepared;
      this.#begin(unit);
    }
    for (const happening of happenings) {
      time.after(happening.at - time.now, () => this.#happen(happening));
    }
    this.#look();
    await this.#pass(length);
    await this.#rest(hub);
    return {
      breaches: this.#breaches.all,
      hash: this.#trace.digest(),
      story: this.#trace.story(4_000),
      faults: this.#faults,
      lines: this.#trace.count,
      counts: this.#observer.counts,
      lasted: time.now,
    };
  }

  close(): void {
    this.#hub?.close();
  }

  #tell(who: string, what: string): void {
    this.#trace.tell(this.#time.now, who, what);
  }

  /** Advances time. Promises settle between two timers. */
  async #pass(end: number): Promise<void> {
    do {
      await new Promise<void>((resolve) => setImmediate(resolve));
      for (const place of this.#places) this.#endSilently(place);
    } while (this.#step(end));
  }

  #step(end: number): boolean {
    try {
      return this.#time.step(end);
    } catch (error) {
      // An error that reaches a timer ends a real program.
      this.#breaches.add('sound', (error as Error).stack ?? String(error));
      return true;
    }
  }

  /** Ends all faults, and waits until no work is left. */
  async #rest(hub: WorldHub): Promise<void> {
    this.#tell('world', 'ends all faults and waits until all is quiet');
    for (const place of this.#places) {
      const { unit, car } = place;
      Object.assign(place, endFaults(place));
      car.state.ignition = 'Stop';
      car.state.speed = 0;
      car.wake();
      if (!unit.alive) this.#begin(unit);
    }
    if (!hub.up) hub.start();
    hub.refuses = false;
    hub.killAfter = Number.POSITIVE_INFINITY;
    if (hub.callbacks !== undefined) hub.callbacks.receivers.answering = 'works';
    this.#broker.start();
    const end = this.#time.now + REST;
    let restlessness = await this.#restlessness(hub);
    for (let looks = 1; this.#time.now < end && restlessness !== ''; looks++) {
      // If a car is silent for five minutes, the hub sends it nothing. A connection ends its silence.
      if (looks % LOOKS_TO_CONNECT === 0)
        for (const { unit } of this.#places) unit.run?.link.connection?.end('cut by the world', true);
      await this.#pass(this.#time.now + 10_000);
      restlessness = await this.#restlessness(hub);
    }
    if (restlessness !== '') this.#breaches.add('rests', restlessness);
    // Programs planned for later still change the cars.
    while (this.#places.some(({ unit }) => unit.board.now < this.#caller.lastDue)) {
      await this.#pass(this.#time.now + 10_000);
    }
    await this.#pass(this.#time.now + QUIET);
    // The latest messages of the cars are still in flight.
    for (let looks = 0; looks < 100 && !(await this.#isQuiet(hub)); looks++) await this.#pass(this.#time.now + 100);
    await this.#observer.settle(
      this.#places.map(({ unit }) => unit),
      hub,
    );
  }

  async #isQuiet(hub: WorldHub): Promise<boolean> {
    return (await this.#restlessness(hub)) === '';
  }

  /** Descriptions of work that is left. */
  async #restlessness(hub: WorldHub): Promise<string> {
    const found: string[] = [];
    if (this.#broker.backlog > 0) found.push(`${this.#broker.backlog} messages wait at the broker`);
    const notifications = (await hub.callbacks?.waiting()) ?? 0;
    if (notifications > 0) found.push(`${notifications} notifications wait at the hub`);
    const results = (await hub.rollouts?.open()) ?? 0;
    if (results > 0) found.push(`${results} cars have not reported a configuration`);
    for (const { unit } of this.#places) {
      if (unit.run?.configurations?.trying === true) found.push(`${unit.vin} tries a configuration`);
      const waiting = unit.run?.agent.waiting;
      const lacks = (await hub.fleet?.lacks(unit.vin)) ?? 0;
      if (lacks > 0) found.push(`${lacks} monitors of ${unit.vin} are not as they should be`);
      const unconfirmed = unit.run?.forwarder?.report.waiting ?? 0;
      if (unconfirmed > 0) found.push(`the exit of ${unit.vin} has ${unconfirmed} records to send`);
      if (waiting !== 0) found.push(`${waiting ?? 'all'} messages wait in ${unit.vin}`);
      for (const { class: priority, missing } of (await hub.reader.numbers(unit.vin)) ?? []) {
        if (missing.length > 0) found.push(`class ${priority} of ${unit.vin} lacks ${JSON.stringify(missing)}`);
      }
    }
    return found.join('; ');
  }

  #look(): void {
    this.#time.after(LOOK, () => {
      for (const { unit } of this.#places) this.#observer.look(unit, this.#plan.outboxLimit);
      this.#look();
    });
  }

  #begin(unit: Unit): void {
    unit.start().catch((error: Error) => {
      this.#breaches.add('sound', `${unit.vin} does not start: ${error.message}`);
    });
  }

  /** Cuts the power at once, or within a later disk operation. */
  #power(place: Place, happening: PowerCut): void {
    place.pending = happening;
    place.operationsLeft = happening.after;
    if (happening.after === 0) place.unit.endSilently();
  }

  #operated(place: Place, operation: string, path: string): void {
    this.#trace.note(this.#time.now, place.unit.vin, `${operation} ${path}`);
    if (place.pending === undefined || --place.operationsLeft > 0) return;
    place.unit.endSilently();
  }

  /** Handles the end of an agent's run, and starts the next one. */
  #endSilently(place: Place): void {
    const { pending, unit } = place;
    if (pending === undefined || unit.alive) return;
    place.pending = undefined;
    this.#tell('world', pending.cuts ? `cuts the power of ${unit.vin}` : `kills the agent of ${unit.vin}`);
    unit.cut(pending.cuts, this.#chance, this.#plan.damages);
    const path = place.damage && unit.disk.damage(place.damage);
    place.damage = undefined;
    if (path !== undefined) this.#observer.damaged(unit, path);
    this.#time.after(pending.off, () => {
      if (!unit.alive) this.#begin(unit);
      // The car may have lost what it has carried out.
      if (path !== undefined) this.#tell('caller', this.#caller.repeat(unit.vin));
    });
  }

  /** Stops an agent in order. */
  #stop(unit: Unit, { cuts, off }: Pick<Extract<Happening, { do: 'stop' }>, 'cuts' | 'off'>): void {
    if (unit.run === undefined || unit.isStopping) return;
    let ended: ReturnType<Observer['stops']> | undefined;
    const over = (numbers?: readonly number[]): void => {
      ended?.(numbers);
      this.#tell('world', `the agent of ${unit.vin} has stopped${cuts ? ', and the power fails' : ''}`);
      unit.cut(cuts, this.#chance, this.#plan.damages);
      this.#time.after(off, () => {
        if (!unit.alive) this.#begin(unit);
      });
    };
    // Only a disk that refuses writes may fail a stop.
    const stopped = unit.stop(() => {
      ended = this.#observer.stops(unit);
    });
    stopped.then(over, (error: Error) => {
      if (!unit.diskRefused) this.#breaches.add('stops', `${unit.vin} ${error.message}`);
      over();
    });
  }

  /** Bytes that are not a message of their topic. */
  #garbage({ vin }: Unit, which: number): OutgoingMessage {
    const { topic, payload } = this.#broker.latest(vin) ?? {
      topic: `vigie/1/${vin}/up/hello`,
      payload: Uint8Array.of(0xa0),
    };
    const garbage = [
      { topic, payload: payload.slice(0, which % payload.length) },
      { topic: `${topic.slice(0, topic.lastIndexOf('/'))}/collision`, payload: payload.slice() },
      { topic: topic.replace('/1/', '/2/'), payload: payload.slice() },
      { topic, payload: Uint8Array.from({ length: 1 + (which % 50) }, (_, at) => (which * (at + 7)) % 251) },
    ][which % 4] as OutgoingMessage;
    this.#hub?.garbage.add(garbage.payload);
    return garbage;
  }

  #happen(happening: Happening): void {
    const place = this.#places[happening.car] as Place;
    const { unit } = place;
    const until = (work: () => void): void => {
      if ('for' in happening) this.#time.after(happening.for, work);
    };
    if (isFault(happening)) this.#faults++;
    if (isOfCaller(happening)) {
      this.#tell('caller', this.#caller.does(happening));
      return;
    }
    this.#tell('world', `${unit.vin}: ${JSON.stringify({ ...happening, at: undefined, car: undefined })}`);
    switch (happening.do) {
      case 'power':
        if (unit.alive) this.#power(place, happening);
        break;
      case 'stop':
        this.#tell('caller', this.#caller.send({ ...happening, do: 'command', manner: 'once', wait: 0 }));
        // The stop shall begin while the state of the command is being written.
        place.takes = SLOW_SYNC;
        this.#time.after(happening.after, () => {
          place.takes = SYNC;
          this.#stop(unit, happening);
        });
        break;
      case 'garbage':
        this.#broker
          .receive(this.#garbage(unit, happening.which))
          .catch((error: Error) => this.#tell('hub', error.message));
        break;
      case 'origin':
        if (!unit.alive) break;
        this.#power(place, { ...happening, do: 'power', cuts: true, after: 0 });
        unit.board.forget();
        until(() => unit.board.set('ntp'));
        break;
      case 'read errors':
        place.unreadable = happening;
        until(() => {
          if (place.unreadable === happening) place.unreadable = undefined;
        });
        if (unit.alive) this.#power(place, { ...happening, do: 'power', cuts: false, after: 0 });
        break;
      case 'new life':
        unit.isReplaced = true;
        if (unit.alive) this.#power(place, { ...happening, do: 'power', cuts: true, after: 0 });
        break;
      case 'damage':
        if (!unit.alive) break;
        place.damage = happening;
        this.#power(place, { ...happening, do: 'power', cuts: true, after: 0 });
        break;
      case 'profile':
        if (!unit.alive) break;
        unit.variant = happening.which;
        this.#power(place, { ...happening, do: 'power', cuts: false, after: 0 });
        break;
      case 'broker':
        if (!this.#broker.up) break;
        this.#broker.stop(happening.loses);
        until(() => this.#broker.start());
        break;
      case 'hub':
        this.#killHub(happening);
        break;
      case 'fleet':
        if (this.#hub?.up === true) {
          // SQLite in memory never refuses a write.
          this.#hub.fleet
            ?.change(unit.vin, happening)
            .then(() => {
              if (this.#hub?.fleet?.owns(unit.vin) === false) this.#hub.callbacks?.left(unit.vin);
            })
            .catch((error: Error) => this.#breaches.add('sound', error.message));
        }
        break;
      case 'rollout':
      case 'extension':
        if (this.#hub?.up === true) this.#configure(this.#hub, happening);
        break;
      case 'hub receivers': {
        const receivers = this.#hub?.callbacks?.receivers;
        if (receivers === undefined) break;
        receivers.answering = happening.answering;
        until(() => {
          receivers.answering = 'works';
        });
        break;
      }
      case 'hub command':
        this.#command(happening);
        break;
      case 'hub disk':
        if (this.#hub !== undefined) this.#hub.refuses = true;
        until(() => {
          if (this.#hub !== undefined) this.#hub.refuses = false;
        });
        break;
      default:
        happenTo(place, happening, this.#time, (refusal) => this.#tell(unit.vin, `refuses: ${refusal}`));
    }
  }

  /** A caller of the fleet begins or extends a roll-out. */
  #configure({ rollouts }: WorldHub, happening: Extract<Happening, { do: 'rollout' | 'extension' }>): void {
    const asked =
      happening.do === 'extension' ? rollouts?.extend() : rollouts?.order(happening.kind, happening.tolerated);
    asked?.catch((error: Error) => this.#tell('hub', `refuses: ${error.message}`));
  }

  /** A caller of the fleet sends a command through a callback. */
  #command(happening: Extract<Happening, { do: 'hub command' }>): void {
    const hub = this.#hub;
    if (hub?.up !== true) return;
    const id = `hub-${++this.#hubCommands}`;
    const expires = Math.round(this.#time.now + BEGIN) + HUB_VALID;
    const { vin, kind, body } = this.#caller.ofHub(happening, id, hubKey.hex, expires);
    // The hub refuses commands to a car that it does not know, or that trusts no key.
    hub.submit(id, vin, kind, body).catch((error: Error) => this.#tell('hub', `refuses: ${error.message}`));
  }

  #killHub({ after, for: down }: Extract<Happening, { do: 'hub' }>): void {
    const hub = this.#hub;
    if (hub === undefined || !hub.up) return;
    const ended = (): void => {
      this.#tell('hub', 'was killed');
      if (this.#plan.embedded) this.#broker.stop('sessions');
      this.#time.after(down, () => {
        if (!hub.up) hub.start();
        this.#broker.start();
      });
    };
    hub.killed = ended;
    if (after > 0) hub.killAfter = after;
    else {
      hub.kill();
      ended();
    }
  }
}
