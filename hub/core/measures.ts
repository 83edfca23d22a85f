/** Metrics: counters of one hub for received messages. */
import { classes } from '../../protocol/classes.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { finalStatuses } from '../../protocol/schema/remote.ts';
import { type CarLimitCounts, noCounts } from './car-limits.ts';
import { type DeliveryCounts, DeliveryMeasures } from './delivery-measures.ts';
import { type CarMessage, heardAt } from './message.ts';
import type { WallClock } from './ports.ts';

/** Time in ms for which a car counts as active after a message. */
const HEARD = 300_000;

/** Counters since the start of the hub. Lists are indexed by priority class. */
export interface HubMeasurements {
  /** New messages, without repetitions. */
  readonly messages: readonly number[];
  readonly bytes: readonly number[];
  /** Sum in ms of the times from creation of a message to its arrival. Only for cars whose clock is set. */
  readonly lag: readonly number[];
  readonly repeated: number;
  readonly refused: number;
  /** Messages of forgotten, removed and unregistered cars. Those of the first two are not stored. */
  readonly refusedCars: Readonly<Record<RefusedCar, number>>;
  /** Messages of unregistered cars that were dropped because there were too many or they were too old. */
  readonly droppedUnregistered: number;
  /** How often cars exceeded each limit for one car. */
  readonly limited: CarLimitCounts;
  readonly commits: number;
  /** Sum of the durations of commits in ms. */
  readonly commitTime: number;
  readonly failedCommits: number;
  /** True if the last commit failed. */
  readonly failing: boolean;
  /** Messages that cars gave up, according to their `gap` messages. */
  readonly givenUp: readonly number[];
  /** Commands that ended, by outcome: final state or cause of the failure. */
  readonly commands: Readonly<Record<string, number>>;
  /** Number of cars that sent a message in the last five minutes. */
  readonly heard: number;
  /** Number of messages waiting in those cars, according to their last reports. */
  readonly backlog: readonly number[];
  readonly deliveries: DeliveryCounts;
  /** Messages that retention removed, by kind. */
  readonly removed: Readonly<Partial<Record<Kind, number>>>;
}

/** Why a car may not send. */
export type RefusedCar = 'forgotten' | 'removed' | 'unregistered';

/** Last report of a car. */
interface HeardCar {
  at: number;
  backlog: readonly { readonly class: number; readonly count: number }[];
}

export class HubMeasures {
  readonly deliveries = new DeliveryMeasures();
  readonly #clock: WallClock;
  readonly #messages = perClass();
  readonly #bytes = perClass();
  readonly #lag = perClass();
  readonly #givenUp = perClass();
  readonly #commands: Record<string, number> = {};
  readonly #removed: Partial<Record<Kind, number>> = {};
  readonly #cars = new Map<string, HeardCar>();
  #repeated = 0;
  #refused = 0;
  readonly #refusedCars: Record<RefusedCar, number> = { forgotten: 0, removed: 0, unregistered: 0 };
  #droppedUnregistered = 0;
  /** Set by the intake, which counts. */
  limited: CarLimitCounts | undefined;
  #commits = 0;
  #commitTime = 0;
  #failedCommits = 0;
  #failing = false;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /**
   * Counts a commit of messages of cars that may send. `fresh`: those that were not stored before; `took`: duration in
   * ms.
   */
  committed(messages: number, fresh: readonly CarMessage[], refused: number, took: number): void {
    this.#commits++;
    this.#failing = false;
    this.#commitTime += took;
    this.#repeated += Math.max(0, messages - fresh.length);
    this.#refused += refused;
    for (const one of fresh) this.#count(one);
  }

  commitFailed(): void {
    this.#failedCommits++;
    this.#failing = true;
  }

  /** Counts messages of cars that may not send. */
  refusedCar(why: RefusedCar, messages: number): void {
    this.#refusedCars[why] += messages;
  }

  droppedUnregistered(messages: number): void {
    this.#droppedUnregistered += messages;
  }

  /** Counts messages of a kind that were removed because of their age. */
  removed(kind: Kind, messages: number): void {
    this.#removed[kind] = (this.#removed[kind] ?? 0) + messages;
  }

  snapshot(): HubMeasurements {
    const since = this.#clock.now() - HEARD;
    const backlog = perClass();
    for (const [vin, car] of this.#cars) {
      if (car.at < since) this.#cars.delete(vin);
      else for (const { class: priority, count } of car.backlog) add(backlog, priority, count);
    }
    return {
      messages: this.#messages,
      bytes: this.#bytes,
      lag: this.#lag,
      repeated: this.#repeated,
      refused: this.#refused,
      refusedCars: this.#refusedCars,
      droppedUnregistered: this.#droppedUnregistered,
      limited: this.limited ?? noCounts(),
      commits: this.#commits,
      commitTime: this.#commitTime,
      failedCommits: this.#failedCommits,
      failing: this.#failing,
      givenUp: this.#givenUp,
      commands: this.#commands,
      heard: this.#cars.size,
      backlog,
      deliveries: this.deliveries.counts,
      removed: this.#removed,
    };
  }

  #count(one: CarMessage): void {
    const { vin, class: priority, message, payload, retained } = one;
    const received = heardAt(one);
    add(this.#messages, priority, 1);
    add(this.#bytes, priority, payload.byteLength);
    // A retained message says nothing about the present state of the car.
    if (retained === true) return;
    if (message.clock !== 'none') add(this.#lag, priority, Math.max(0, received - message.at));
    const car = this.#cars.get(vin) ?? { at: received, backlog: [] };
    car.at = received;
    this.#cars.set(vin, car);
    if (message.kind === 'hello') car.backlog = message.body.health?.outbox ?? [];
    if (message.kind === 'gap') add(this.#givenUp, message.body.class, message.body.count);
    if (message.kind === 'remote') this.#end(message.body);
  }

  #end({ status, failureCause }: RemoteReport): void {
    if (!finalStatuses.has(status)) return;
    const outcome = failureCause ?? status;
    this.#commands[outcome] = (this.#commands[outcome] ?? 0) + 1;
  }
}

function perClass(): number[] {
  return classes.map(() => 0);
}

/** Adds to a sum. Ignores a class of a newer protocol, which a car may send. */
function add(sums: number[], priority: number, more: number): void {
  const sum = sums[priority];
  if (sum !== undefined) sums[priority] = sum + more;
}
