/**
 * Worlds small enough to run all of them: one car, two commands, a power cut at any write, the second command at any
 * step. After the cut both commands are repeated, and once more after they have expired.
 */
import { Broker } from './broker.ts';
import { Caller } from './caller.ts';
import { WorldCar } from './car.ts';
import { Chance } from './chance.ts';
import { BEGIN } from './hub.ts';
import { type Breach, Breaches } from './invariants.ts';
import { Observer } from './observer.ts';
import type { Manner } from './plan.ts';
import { WorldTime } from './time.ts';
import { Trace } from './trace.ts';
import { Unit } from './unit.ts';

const VIN = 'VF3VGESMALL000001';
/** Time by which the car has sent its state and the link is up, ms. */
const READY = 3_500;
/** Time after the first command within which the second arrives and the power fails, ms. */
const OPEN = 4_500;
/** Time by which the commands have expired, ms. */
const EXPIRED = 32_000;
const OFF = 200;

/** The second command. The first one locks the doors, signed by the first operator. */
export const seconds = {
  'a command of another key': { which: 4, key: 1, manner: 'once' },
  'the opposite by another key': { which: 1, key: 1, manner: 'once' },
  'the same message again': { which: 0, key: 0, manner: 'again' },
  'the revocation of its key': { which: 0, key: 0, manner: 'revoke' },
  'the same with a wrong signature': { which: 0, key: 0, manner: 'unsigned' },
} as const satisfies Record<string, { which: number; key: number; manner: Manner }>;
export type Second = keyof typeof seconds;

export interface Small {
  readonly second: Second;
  /** Steps between the first command and the second. A step is a timer or a disk operation. */
  readonly at: number;
  /** Disk operation after the first command at which the power fails, from 1. 0: never. */
  readonly cut: number;
  /** Selects which unsynced pages are on the medium. */
  readonly medium: number;
}

export interface Lived {
  readonly breaches: readonly Breach[];
  /** Whether the power cut has happened, if one was planned. */
  readonly happened: boolean;
  /** Number of steps and disk operations within the window. */
  readonly steps: number;
  readonly operations: number;
  /** Hash of everything that the car did and sent. */
  readonly hash: string;
  readonly story: readonly string[];
}

export async function liveSmall(small: Small): Promise<Lived> {
  const time = new WorldTime();
  const chance = new Chance('small');
  const trace = new Trace();
  const tell = (who: string, what: string): void => trace.tell(time.now, who, what);
  const breaches = new Breaches(
    () => time.now,
    ({ invariant, detail }) => tell('!', `${invariant} ${detail}`),
  );
  const broker = new Broker({
    time,
    chance: chance.fork('broker'),
    embedded: true,
    deliver: async () => undefined,
    subscribed: () => undefined,
  });
  const came: { readonly topic: string; readonly payload: Uint8Array }[] = [];
  const caller = new Caller({
    time,
    vins: [VIN],
    now: () => time.now + BEGIN,
    broker: { send: (_vin, topic, payload) => void came.push({ topic, payload }) },
  });
  const car = new WorldCar(time, chance.fork('car'));
  const observer = new Observer({
    time,
    breaches,
    tell,
    cars: new Map([[VIN, car]]),
    commands: caller.sent,
    note: () => undefined,
    keepsAll: true,
    restarts: () => undefined,
    reconfigured: () => undefined,
    revoked: () => void time.after(1, () => give(caller.useRevoked(VIN, first.keyId))),
  });
  let [operations, isOpen, isCut] = [0, false, false];
  const unit = new Unit({
    vin: VIN,
    time,
    car,
    broker,
    watcher: observer,
    chance: chance.fork('unit'),
    outboxLimit: 1 << 20,
    faults: {
      refuses: () => undefined,
      unreadable: () => undefined,
      touched: () => undefined,
      syncTakes: () => 5,
      operated: () => {
        if (!isOpen) return;
        operations++;
        if (operations === small.cut && !isCut) {
          isCut = true;
          unit.endSilently();
        }
        step();
      },
    },
  });
  /** Delivers the newest message to the agent without the network. */
  const give = (what: string, { topic, payload } = came.at(-1) as (typeof came)[number]): void => {
    tell('caller', what);
    if (!unit.alive || unit.run === undefined) return;
    observer.received(unit, payload);
    unit.run.agent.message(topic, payload, undefined);
  };
  let steps = 0;
  const step = (): void => {
    if (!isOpen || steps++ !== small.at) return;
    const { manner, which, key } = seconds[small.second];
    give(caller.send({ do: 'command', at: 0, car: 0, wait: 0, manner, which, key }));
  };
  const pass = async (end: number): Promise<void> => {
    do {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isCut && unit.run !== undefined && !unit.alive) restart();
      step();
    } while (time.step(end));
  };
  const again = (): void => {
    for (const one of came.slice()) give('sends it again', one);
  };
  const restart = (): void => {
    tell('world', 'cuts the power');
    unit.cut(true, new Chance(`medium ${small.medium}`));
    time.after(OFF, () => {
      unit.start().then(again, (error: Error) => breaches.add('sound', `does not start: ${error.message}`));
    });
  };
  const prepared = unit.prepare();
  await pass(100);
  await prepared;
  const started = unit.start();
  await pass(READY);
  await started;
  isOpen = true;
  give(caller.send({ do: 'command', at: 0, car: 0, wait: 0, manner: 'once', which: 0, key: 0 }));
  const first = [...caller.sent.values()][0] as { readonly keyId: string };
  await pass(READY + OPEN);
  isOpen = false;
  const counted = { steps, operations };
  await pass(READY + EXPIRED);
  again();
  await pass(READY + EXPIRED + 5_000);
  observer.compareEnds(unit, new Set());
  return {
    breaches: breaches.all,
    happened: small.cut === 0 || isCut,
    ...counted,
    hash: trace.digest(),
    story: trace.story(200),
  };
}

export interface Explored {
  worlds: number;
  /** Hashes of the different outcomes. */
  readonly different: Set<string>;
  readonly broken: { readonly small: Small; readonly lived: Lived }[];
}

/** Runs all small worlds or a part: each `steps`-th step of the second command, and each `cuts`-th disk operation. */
export async function explore(
  { steps, cuts, media }: { readonly steps: number; readonly cuts: number; readonly media: number },
  explored: Explored = { worlds: 0, different: new Set(), broken: [] },
): Promise<Explored> {
  const live = async (small: Small): Promise<Lived> => {
    const lived = await liveSmall(small);
    explored.worlds++;
    explored.different.add(lived.hash);
    if (lived.breaches.length > 0) explored.broken.push({ small, lived });
    return lived;
  };
  for (const second of Object.keys(seconds) as Second[]) {
    let end = 1;
    for (let at = 0; at < end; at += steps) {
      const whole = await live({ second, at, cut: 0, medium: 0 });
      end = Math.max(end, whole.steps);
      for (let medium = 0; medium < media; medium++) {
        // The offset changes with each step, so that a part of the worlds covers cuts at all operations.
        for (let cut = 1 + ((at / steps) % cuts); cut <= whole.operations; cut += cuts) {
          await live({ second, at, cut, medium });
        }
      }
    }
  }
  return explored;
}
