/** What is going to happen in a world: drawn from its seed before it begins, so that parts of it can be left out. */
import { Chance } from './chance.ts';

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
  | { readonly do: 'drive'; readonly speed: number; readonly for: number }
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

/** How a command is sent. */
export type Manner = 'once' | 'twice' | 'late' | 'unsigned' | 'by a stranger' | 'to another car' | 'again' | 'revoke';

export interface Plan {
  readonly seed: number;
  /** ms after which nothing new happens. */
  readonly length: number;
  readonly cars: number;
  readonly embedded: boolean;
  /** Bytes. */
  readonly outboxLimit: number;
  readonly happenings: readonly Happening[];
}

/** Faults; the other happenings are what people do. */
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
  'silence',
  'stubborn',
]);

export function isFault(happening: Happening): boolean {
  return FAULTS.has(happening.do) || (happening.do === 'command' && happening.manner !== 'once');
}

const SECOND = 1000;

type Draw = (chance: Chance) => Happening extends infer H ? (H extends unknown ? Omit<H, 'at' | 'car'> : never) : never;

/** How often each happens beside the others. */
const weighted: readonly (readonly [number, Draw])[] = [
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
const total = weighted.reduce((sum, [weight]) => sum + weight, 0);

/** @param length ms in which things happen */
export function planOf(seed: number, length: number): Plan {
  const chance = new Chance(`plan ${seed}`);
  const cars = chance.happens(0.25) ? chance.between(2, 3) : 1;
  // Some worlds are calm, so that what needs time can happen; others leave no time.
  const every = chance.pick([2, 5, 10, 20]) * SECOND;
  const happenings: Happening[] = [];
  for (let at = 5 * SECOND; at < length; at += chance.between(1, 2 * every)) {
    let place = chance.below(total);
    const [, draw] = weighted.find(([weight]) => {
      place -= weight;
      return place < 0;
    }) as (typeof weighted)[number];
    happenings.push({ at, car: chance.below(cars), ...draw(chance) });
  }
  return {
    ...{ seed, length, cars, happenings },
    embedded: chance.happens(0.5),
    outboxLimit: chance.pick([16, 64, 1024]) * 1024,
  };
}
