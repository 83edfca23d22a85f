/**
 * Many cars, or one receiver that only acknowledges, in a separate process, so that other figures do not include their
 * cost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Departure } from '../scenarios/drive.ts';
import { BareCar, type BareCarOptions } from './car.ts';
import { BareClient, type ClientOptions } from './client.ts';

export interface CrowdOptions extends Pick<ClientOptions, 'host' | 'ports' | 'version'> {
  /** Number of the first car. */
  readonly first: number;
  readonly cars: number;
  readonly drive: readonly Departure[];
  readonly speed: number;
  /** Time in ms over which the cars depart one after the other. */
  readonly leaving: number;
}

/**
 * Returns how many messages the cars send within a time in ms after the first departure. Some parts of the drive have
 * few.
 */
export function dueAfter(
  elapsed: number,
  { cars, drive, speed, leaving }: Omit<CrowdOptions, 'host' | 'ports' | 'version'>,
): number {
  return drive.reduce((sum, { after }) => {
    const last = Math.floor(((elapsed - after / speed) / leaving) * cars);
    return sum + Math.min(cars, Math.max(0, last + 1));
  }, 0);
}

export interface CrowdState {
  readonly connected: number;
  readonly connections: number;
  /** Number of cars of which all messages are acknowledged. */
  readonly arrived: number;
  readonly taken: number;
  readonly takenBytes: number;
  readonly repeated: number;
  /** MQTT traffic in both directions in bytes. */
  readonly bytes: number;
  readonly received: number;
  readonly refused: string | undefined;
}

type Order = { readonly crowd: CrowdOptions } | { readonly receiver: ClientOptions } | 'drive' | 'tell' | 'end';

export class Crowd {
  readonly #child: ChildProcess;

  private constructor(order: Order) {
    // The messages of the drive are byte arrays.
    this.#child = fork(fileURLToPath(import.meta.url), ['crowd'], { serialization: 'advanced' });
    this.#child.send(order);
  }

  static of(crowd: CrowdOptions): Crowd {
    return new Crowd({ crowd });
  }

  /** Returns a client that subscribes and only acknowledges. */
  static receiving(receiver: ClientOptions): Crowd {
    return new Crowd({ receiver });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Starts the cars. */
  drive(): void {
    this.#child.send('drive');
  }

  async state(): Promise<CrowdState> {
    this.#child.send('tell');
    const [state] = (await once(this.#child, 'message')) as [CrowdState];
    return state;
  }

  async end(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.send('end');
    await exit;
  }
}

/** Time in ms between two checks for due messages, and number of clients that may connect at the same time. */
const TICK = 20;
const RAMP = 200;

function serve(): void {
  let clients: BareClient[] = [];
  let cars: BareCar[] = [];
  let leaving = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    let connecting = 0;
    for (const client of clients) {
      if (!client.ready && ++connecting > RAMP) continue;
      client.tick(now);
    }
  }, TICK);
  const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0);
  process.on('message', (order: Order) => {
    if (order === 'drive') {
      const now = performance.now();
      cars.forEach((car, i) => {
        car.drive(now + (i / cars.length) * leaving);
      });
    } else if (order === 'tell') {
      const state: CrowdState = {
        connected: clients.filter(({ ready }) => ready).length,
        connections: sum(clients, ({ connections }) => connections),
        arrived: cars.filter(({ arrived }) => arrived).length,
        taken: sum(cars, ({ taken }) => taken),
        takenBytes: sum(cars, ({ takenBytes }) => takenBytes),
        repeated: sum(cars, ({ repeated }) => repeated),
        bytes: sum(clients, ({ sentBytes, receivedBytes }) => sentBytes + receivedBytes),
        received: sum(clients, ({ received }) => received),
        refused: clients.find(({ refused }) => refused !== undefined)?.refused,
      };
      process.send?.(state);
    } else if (order === 'end') {
      clearInterval(timer);
      for (const client of clients) client.end();
      process.disconnect();
    } else if ('receiver' in order) clients = [new BareClient(order.receiver)];
    else {
      const { first, cars: count, leaving: span, ...rest } = order.crowd;
      leaving = span;
      cars = Array.from({ length: count }, (_, i): BareCar => {
        const options: BareCarOptions = { ...rest, index: first + i };
        return new BareCar(options);
      });
      clients = cars;
    }
  });
}

if (process.argv[2] === 'crowd' && process.send !== undefined) serve();
