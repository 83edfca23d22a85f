/** Events of a world, drawn from its seed before it begins, so that some can be left out. */
import { Chance } from './chance.ts';
import type { ConfigurationKind } from './configurations.ts';
import type { DiskDamage } from './disk.ts';
import type { ExitAnswering } from './exits.ts';
import { FLEET_MONITORS, type FleetOrder, SPEEDS } from './fleet.ts';
import { MONITORS, type MonitorChange } from './interface-user.ts';
import type { Answering } from './receivers.ts';

export type Happening = { readonly at: number; readonly car: number } & (
  | { readonly do: 'power'; readonly cuts: boolean; readonly after: number; readonly off: number }
  | { readonly do: 'disk'; readonly code: string; readonly for: number }
  | { readonly do: 'slow disk'; readonly takes: number; readonly for: number }
  | { readonly do: 'connection'; readonly ends: 'at once' | 'with the rest arriving' | 'half-open' }
  | { readonly do: 'network'; readonly dark: boolean; readonly lag: number; readonly for: number }
  | { readonly do: 'broker'; readonly loses: 'nothing' | 'sessions' | 'messages'; readonly for: number }
  | { readonly do: 'hub'; readonly after: number; readonly for: number }
  | { readonly do: 'hub disk'; readonly for: number }
  | { readonly do: 'clock'; readonly steps: number }
  | { readonly do: 'time unknown'; readonly for: number }
  | { readonly do: 'drift'; readonly ppm: number; readonly for: number }
  /** A power cut after which the clock restarts at its origin. It gets the time `for` ms later. */
  | { readonly do: 'origin'; readonly off: number; readonly for: number }
  | { readonly do: 'bus-off' | 'flood'; readonly for: number }
  /** A command that plans something `in` ms later. */
  /** A change of a monitor at the interface of the car. */
  | { readonly do: 'monitor'; readonly which: string; readonly change: MonitorChange }
  /** Behaviour of the receivers of callbacks. */
  | { readonly do: 'receivers'; readonly answering: Answering; readonly for: number }
  | { readonly do: 'program'; readonly which: Program; readonly key: number; readonly in: number }
  | { readonly do: 'drive'; readonly speed: number; readonly for: number }
  /** Charge of the 12 V battery in percent. */
  | { readonly do: 'battery'; readonly charge: number; readonly for: number }
  /** Many commands of one key in sequence. `same`: all have the same body. */
  | {
      readonly do: 'burst';
      readonly same?: true;
      readonly which: number;
      readonly key: number;
      readonly count: number;
      readonly every: number;
    }
  /** A kill of the agent, after which the disk does not return files whose path contains `what` for some time. */
  | {
      readonly do: 'read errors';
      readonly code: string;
      readonly what: string;
      readonly off: number;
      readonly for: number;
    }
  /** A power cut, after which a file of the journal is damaged. */
  | ({ readonly do: 'damage'; readonly off: number } & DiskDamage)
  /** Behaviour of the receivers of the hub's callbacks. */
  | { readonly do: 'hub receivers'; readonly answering: Answering; readonly for: number }
  /** A command that a caller sends through a callback of the hub. */
  | { readonly do: 'hub command'; readonly which: number }
  /** Behaviour of the receiver of the car's exit. */
  | { readonly do: 'exit'; readonly answering: ExitAnswering; readonly for: number }
  /** A command, and `after` ms later an orderly stop, after which the power may fail. The agent starts `off` ms later. */
  | {
      readonly do: 'stop';
      readonly which: number;
      readonly key: number;
      readonly after: number;
      readonly cuts: boolean;
      readonly off: number;
    }
  /** Bytes that are not a message, on a topic of the car. */
  | { readonly do: 'garbage'; readonly which: number }
  /** A configuration for the fleet, or the extension of the newest one to all cars. */
  | { readonly do: 'rollout'; readonly kind: ConfigurationKind; readonly tolerated: number }
  | { readonly do: 'extension' }
  /** A power cut, after which the data directory is wiped or the card replaced. */
  | { readonly do: 'new life'; readonly off: number }
  /** Forged commands with the id of an operator's key, or an old command, repeatedly. */
  | { readonly do: 'forgeries' | 'replays'; readonly which: number; readonly perSecond: number; readonly count: number }
  /** A kill of the agent, which restarts with another profile. */
  | { readonly do: 'profile'; readonly which: number; readonly off: number }
  /** A command that starts a collection for `lasts` ms, or ends the one of this name. */
  | { readonly do: 'collect'; readonly name: string; readonly lasts: number; readonly interval: number }
  /** A change of a fleet at the hub: its cars, or its monitors. */
  | ({ readonly do: 'fleet' } & FleetOrder)
  | { readonly do: 'door' | 'plug' | 'silence' | 'stubborn'; readonly for: number }
  | { readonly do: 'privacy'; readonly state: 'Geolocation' | 'Full'; readonly for: number }
  | {
      readonly do: 'command';
      readonly which: number;
      readonly key: number;
      readonly manner: Manner;
      readonly wait: number;
    }
);

/** Way in which a command is sent. */
export type Manner =
  | 'once'
  | 'twice'
  | 'late'
  | 'unsigned'
  | 'by a stranger'
  | 'to another car'
  | 'with a faulty body'
  | 'again'
  | 'revoke'
  | 'add';

/** Programs that a car can be asked to run later. */
export type Program = 'delayed charging' | 'charging' | 'preconditioning';

export interface Plan {
  readonly seed: number;
  /** Time after which no new event occurs, ms. */
  readonly length: number;
  readonly cars: number;
  readonly embedded: boolean;
  /** Bytes. */
  readonly outboxLimit: number;
  /** Whether a write interrupted by a power cut may leave arbitrary data. */
  readonly damages: boolean;
  /** Whether cars have custom signals and accept collect commands. */
  readonly signals?: boolean;
  /** Whether the hub brings fleet monitors into the cars. */
  readonly fleet?: boolean;
  /** Whether cars have an exit. */
  readonly exits?: boolean;
  /** Whether the fleet at the hub has callbacks. */
  readonly callbacks?: boolean;
  /** Whether the hub rolls out configurations to the fleet. */
  readonly rollouts?: boolean;
  /** Whether cars fall asleep soon after their buses are silent. */
  readonly sleeps?: boolean;
  readonly happenings: readonly Happening[];
}

/** Faults. All other events are actions of people. */
export const FAULTS: ReadonlySet<Happening['do']> = new Set([
  'power',
  'disk',
  'slow disk',
  'connection',
  'network',
  'broker',
  'hub',
  'hub disk',
  'clock',
  'time unknown',
  'drift',
  'receivers',
  'stop',
  'garbage',
  'origin',
  'read errors',
  'new life',
  'damage',
  'exit',
  'hub receivers',
  'forgeries',
  'replays',
  'bus-off',
  'flood',
  'silence',
  'stubborn',
]);

export function isFault(happening: Happening): boolean {
  return FAULTS.has(happening.do) || (happening.do === 'command' && happening.manner !== 'once');
}

export const SECOND = 1000;

type Draw = (chance: Chance) => Happening extends infer H ? (H extends unknown ? Omit<H, 'at' | 'car'> : never) : never;

export type Weighted = readonly (readonly [weight: number, draw: Draw])[];

/** Weights of the events. */
const narrow: Weighted = [
  [
    10,
    (chance) => ({
      do: 'power',
      cuts: chance.happens(0.7),
      after: chance.happens(0.6) ? chance.between(1, 60) : 0,
      off: chance.between(50, 20 * SECOND),
    }),
  ],
  [
    3,
    (chance) => ({ do: 'disk', code: chance.pick(['ENOSPC', 'EIO', 'EROFS']), for: chance.between(100, 15 * SECOND) }),
  ],
  [3, (chance) => ({ do: 'slow disk', takes: chance.between(50, 1_500), for: chance.between(1, 30) * SECOND })],
  [
    10,
    (chance) => ({
      do: 'connection',
      ends: chance.pick(['at once', 'at once', 'with the rest arriving', 'half-open'] as const),
    }),
  ],
  [
    5,
    (chance) => ({
      do: 'network',
      dark: chance.happens(0.6),
      lag: chance.between(100, 3_000),
      for: chance.between(1, 60) * SECOND,
    }),
  ],
  [
    4,
    (chance) => ({
      do: 'broker',
      loses: chance.pick(['nothing', 'nothing', 'sessions', 'messages'] as const),
      for: chance.between(1, 20) * SECOND,
    }),
  ],
  [4, (chance) => ({ do: 'hub', after: chance.between(0, 8), for: chance.between(1, 30) * SECOND })],
  [2, (chance) => ({ do: 'hub disk', for: chance.between(1, 20) * SECOND })],
  [2, (chance) => ({ do: 'clock', steps: chance.pick([-1, 1]) * chance.between(1, 40) * SECOND })],
  [1, (chance) => ({ do: 'time unknown', for: chance.between(5, 60) * SECOND })],
  [6, (chance) => ({ do: 'drive', speed: chance.between(5, 100), for: chance.between(10, 90) * SECOND })],
  [3, (chance) => ({ do: 'door', for: chance.between(1, 30) * SECOND })],
  [2, (chance) => ({ do: 'plug', for: chance.between(5, 60) * SECOND })],
  [2, (chance) => ({ do: 'silence', for: chance.between(5, 300) * SECOND })],
  [3, (chance) => ({ do: 'stubborn', for: chance.between(5, 30) * SECOND })],
  [
    3,
    (chance) => ({
      do: 'privacy',
      state: chance.pick(['Geolocation', 'Full'] as const),
      for: chance.between(5, 90) * SECOND,
    }),
  ],
  [
    30,
    (chance) => ({
      do: 'command',
      which: chance.below(1_000),
      key: chance.below(3),
      manner: chance.pick([
        ...(['once', 'once', 'once', 'once', 'twice', 'twice', 'late', 'unsigned'] as const),
        ...(['by a stranger', 'to another car', 'again', 'again', 'again'] as const),
        ...(chance.happens(0.15) ? (['revoke', 'revoke', 'revoke'] as const) : []),
      ]),
      wait: chance.between(0, 40) * SECOND,
    }),
  ],
];

/** Additional events in the worlds of new seeds. */
const further: Weighted = [
  [2, (chance) => ({ do: 'drift', ppm: chance.between(-20_000, 20_000), for: chance.between(10, 120) * SECOND })],
  [2, (chance) => ({ do: 'origin', off: chance.between(50, 10 * SECOND), for: chance.between(1, 90) * SECOND })],
  [3, (chance) => ({ do: 'bus-off', for: chance.between(1, 30) * SECOND })],
  [1, (chance) => ({ do: 'flood', for: chance.between(1, 10) * SECOND })],
  [
    6,
    (chance) => ({
      do: 'monitor',
      which: chance.pick(Object.keys(MONITORS)),
      change: chance.pick(['Running', 'Running', 'Running', 'Paused', 'removed'] as const),
    }),
  ],
  [
    5,
    (chance) => ({
      do: 'receivers',
      answering: chance.pick(['fails', 'hangs', 'takes a part', 'busy', 'offline'] as const),
      for: chance.between(1, 60) * SECOND,
    }),
  ],
  [
    8,
    (chance) => ({
      do: 'program',
      which: chance.pick(['delayed charging', 'charging', 'preconditioning'] as const),
      key: chance.below(3),
      in: chance.between(5, 240) * SECOND,
    }),
  ],
  [
    6,
    (chance) => ({
      do: 'command',
      which: chance.below(1_000),
      key: chance.between(3, 5),
      manner: chance.pick(['add', 'add', 'once', 'once', 'twice', 'revoke'] as const),
      wait: chance.between(0, 40) * SECOND,
    }),
  ],
];

/** Events in some worlds, drawn separately, so that the rest of a world stays the same. */
const rare: Weighted = [
  [2, (chance) => ({ do: 'battery', charge: chance.between(5, 35), for: chance.between(5, 60) * SECOND })],
  [
    3,
    (chance) => ({
      do: 'command',
      which: chance.below(1_000),
      key: chance.below(3),
      manner: 'with a faulty body' as const,
      wait: 0,
    }),
  ],
];

/** Events in a world whose cars have custom signals. */
const ofSignals: Weighted = [
  [2, (chance) => ({ do: 'profile', which: chance.below(3), off: chance.between(50, 5 * SECOND) })],
  [
    5,
    (chance) => ({
      do: 'collect',
      name: chance.pick(['a', 'b']),
      lasts: chance.happens(0.3) ? 0 : chance.between(10, 600) * SECOND,
      interval: chance.pick([0, 500, 3 * SECOND]),
    }),
  ],
];

/** Events in a world whose hub has a fleet. */
const ofFleet: Weighted = [
  [
    1,
    (chance) => ({
      do: 'fleet',
      change: chance.pick(['joins', 'joins', 'leaves', 'Running', 'Running', 'Running', 'Paused', 'removed'] as const),
      monitorId: chance.pick(FLEET_MONITORS),
      speed: chance.pick(SPEEDS),
    }),
  ],
];

const ofReads: Weighted = [
  [
    1,
    (chance) => ({
      do: 'read errors',
      code: chance.pick(['EIO', 'EACCES', 'EMFILE', 'ENFILE', 'ENOMEM']),
      what: chance.pick(['', 'boot.json', 'trust.json', 'remotes.json', '.journal']),
      off: chance.between(50, 2 * SECOND),
      for: chance.between(100, chance.happens(0.5) ? 3 * SECOND : 40 * SECOND),
    }),
  ],
];

const ofLives: Weighted = [[1, (chance) => ({ do: 'new life', off: chance.between(50, 20 * SECOND) })]];

const ofFloods: Weighted = [
  [
    1,
    (chance) => ({
      do: chance.pick(['forgeries', 'replays'] as const),
      which: chance.below(1_000),
      perSecond: chance.pick([50, 300, 1_000]),
      count: chance.between(50, 1_000),
    }),
  ],
];

const ofExits: Weighted = [
  [
    1,
    (chance) => ({
      do: 'exit',
      answering: chance.pick(['fails', 'hangs', 'refuses'] as const),
      for: chance.between(1, 60) * SECOND,
    }),
  ],
];

const ofDamage: Weighted = [
  [
    1,
    (chance) => ({
      do: 'damage',
      kind: chance.pick(['missing', 'empty', 'zeros', 'flip', 'cut'] as const),
      which: chance.below(1_000),
      place: chance.real(),
      off: chance.between(50, 20 * SECOND),
    }),
  ],
];

/** Events in a world whose fleet has callbacks at the hub. */
const ofHubCallbacks: Weighted = [
  [
    1,
    (chance) => ({
      do: 'hub receivers',
      answering: chance.pick(['fails', 'hangs', 'takes a part', 'busy', 'offline'] as const),
      for: chance.between(1, 60) * SECOND,
    }),
  ],
  [2, (chance) => ({ do: 'hub command', which: chance.below(1_000) })],
  [1, (chance) => ({ do: 'fleet', change: 'Running', monitorId: chance.pick(FLEET_MONITORS), speed: 10 })],
  [1, (chance) => ({ do: 'drive', speed: chance.between(5, 100), for: chance.between(10, 90) * SECOND })],
];

/** An earlier version: without what `newest-plan.ts` adds. @param length ms in which events occur */
export function callbackPlanOf(seed: number, length: number): Plan {
  const plan = exitPlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, callbacks`);
  if (plan.fleet !== true || !chance.happens(0.7)) return plan;
  return { ...withMore(plan, happeningsOf(length, chance, ofHubCallbacks, plan.cars, 20 * SECOND)), callbacks: true };
}

/** An earlier version: without callbacks at the hub. */
export function exitPlanOf(seed: number, length: number): Plan {
  const plan = folderPlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, exits and damage`);
  const exits = chance.happens(0.4);
  // Custom signals are named by records that damage destroys.
  const isDamaged = chance.happens(0.25) && plan.signals !== true;
  return {
    ...withMore(plan, [
      ...(exits ? happeningsOf(length, chance, ofExits, plan.cars, 60 * SECOND) : []),
      ...(isDamaged ? happeningsOf(length, chance, ofDamage, plan.cars, 90 * SECOND) : []),
    ]),
    exits,
  };
}

/** An earlier version: without exits and damage. */
export function folderPlanOf(seed: number, length: number): Plan {
  const plan = fleetPlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, folders and floods`);
  const draw = (weighted: Weighted, every: number): Happening[] =>
    chance.happens(0.4) ? happeningsOf(length, chance, weighted, plan.cars, every) : [];
  return withMore(plan, [
    ...draw(ofReads, 60 * SECOND),
    ...draw(ofLives, 120 * SECOND),
    ...draw(ofFloods, 60 * SECOND),
  ]);
}

/** An earlier version: without read errors, replaced directories and floods. */
export function fleetPlanOf(seed: number, length: number): Plan {
  const plan = signalPlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, fleet`);
  if (!chance.happens(0.25)) return plan;
  return { ...withMore(plan, happeningsOf(length, chance, ofFleet, plan.cars, 20 * SECOND)), fleet: true };
}

function signalPlanOf(seed: number, length: number): Plan {
  const plan = rarePlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, custom signals`);
  if (!chance.happens(0.25)) return plan;
  return { ...withMore(plan, happeningsOf(length, chance, ofSignals, plan.cars, 30 * SECOND)), signals: true };
}

export function withMore(plan: Plan, more: readonly Happening[]): Plan {
  return { ...plan, happenings: [...plan.happenings, ...more].sort((a, b) => a.at - b.at) };
}

/** An earlier version, with fewer kinds of events. */
export function rarePlanOf(seed: number, length: number): Plan {
  const plan = widePlanOf(seed, length);
  const chance = new Chance(`plan ${seed}, what is rare`);
  const more = happeningsOf(length, chance, rare, plan.cars, 60 * SECOND);
  // So many commands of one key that the car cannot remember all of them.
  const key = chance.below(3);
  const burst: Draw = (draw) => ({
    do: 'burst',
    which: draw.below(1_000),
    key,
    count: draw.between(30, 90),
    every: draw.pick([0, 20, 200]),
  });
  if (chance.happens(0.1)) more.push(...happeningsOf(length, chance, [[1, burst]], plan.cars, 45 * SECOND));
  return withMore(plan, more);
}

/** An earlier version, with still fewer kinds of events. */
export function widePlanOf(seed: number, length: number): Plan {
  const chance = new Chance(`plan ${seed}`);
  const plan = drawn(seed, length, chance, [...narrow, ...further], [2, 3, 5, 10]);
  return { ...plan, damages: chance.happens(0.5) };
}

/** The earliest version, with the fewest kinds of events. */
export function narrowPlanOf(seed: number, length: number): Plan {
  return { ...drawn(seed, length, new Chance(`plan ${seed}`), narrow, [2, 5, 10, 20]), damages: false };
}

/** `paces`: mean times between events, in seconds. Single times vary from 0 to twice that. */
function drawn(
  seed: number,
  length: number,
  chance: Chance,
  weighted: Weighted,
  paces: readonly number[],
): Omit<Plan, 'damages'> {
  const cars = chance.happens(0.25) ? chance.between(2, 3) : 1;
  // Some worlds are calm, so that slow effects can happen. Others leave no time.
  const every = chance.pick(paces) * SECOND;
  const happenings = happeningsOf(length, chance, weighted, cars, every);
  return {
    seed,
    length,
    cars,
    happenings,
    embedded: chance.happens(0.5),
    outboxLimit: chance.pick([16, 64, 1024]) * 1024,
  };
}

/** Events in sequence, `every` ms apart on average. */
export function happeningsOf(
  length: number,
  chance: Chance,
  weighted: Weighted,
  cars: number,
  every: number,
): Happening[] {
  const total = weighted.reduce((sum, [weight]) => sum + weight, 0);
  const happenings: Happening[] = [];
  for (let at = 5 * SECOND; at < length; at += chance.between(1, 2 * every)) {
    let place = chance.below(total);
    const [, draw] = weighted.find(([weight]) => {
      place -= weight;
      return place < 0;
    }) as (typeof weighted)[number];
    happenings.push({ at, car: chance.below(cars), ...draw(chance) });
  }
  return happenings;
}
