/** Custom signals of the cars in some worlds: definitions in profiles and commands, and values sent by the cars. */
import { defined } from '../../protocol/defined.ts';
import type { CustomSignal } from '../../protocol/profile.ts';
import type { SignalKind } from '../../protocol/schema/catalog.ts';

/** Data of a frame in addition to the parts of Status. */
export interface Raw {
  /** Number of the frame, which is unique. */
  readonly counter: number;
  readonly gear: number;
  readonly lamp: number;
  /** Position of the car, marked during a private time. The same applies to the next member. */
  readonly place: number;
  readonly air: number;
}
export type RawSignal = keyof Raw;
export const rawSignals: readonly RawSignal[] = ['counter', 'gear', 'lamp', 'place', 'air'];

const GEARS = ['Park', 'Drive', 'Reverse'];
/** Other names for the same gears: another definition, with another number. */
const LETTERS = ['P', 'D', 'R'];
/** Validity of readings, ms. */
export const LASTS = 5_000;

interface Form {
  readonly kind: SignalKind;
  readonly unit?: string;
  readonly resolution?: number;
  readonly scale?: number;
  readonly names?: readonly string[];
}

/** Meaning of each integer, by name of its readings and, after a point, its unit. */
const forms: Readonly<Record<string, Form>> = {
  counter: { kind: 'quantity', unit: '1', resolution: 1 },
  thousands: { kind: 'quantity', unit: 'k', resolution: 0.01, scale: 0.001 },
  gear: { kind: 'enumeration', names: GEARS },
  letter: { kind: 'enumeration', names: LETTERS },
  lamp: { kind: 'flag' },
  place: { kind: 'quantity', unit: 'deg', resolution: 0.01 },
  air: { kind: 'quantity', unit: 'Cel', resolution: 0.1 },
};

function signalOf(name: string, signal: RawSignal, form: string, interval: number): CustomSignal {
  const { kind, unit, resolution, scale = 1, names } = forms[form] as Form;
  return {
    name,
    message: 'Car',
    signal,
    kind,
    scale,
    shift: 0,
    invalid: [],
    timeout: LASTS,
    raw: kind === 'enumeration',
    position: signal === 'place',
    rule: { interval, deadBand: 0, heartbeat: 20_000 },
    ...defined({ unit, resolution }),
    ...(names === undefined ? {} : { names: names.map((of, count) => ({ count, name: of })) }),
  };
}

/** Custom signals of the consecutive profiles of a car: the same name has different definitions. */
export const profilesOfSignals: readonly (readonly CustomSignal[])[] = [
  [
    signalOf('World.Counter', 'counter', 'counter', 1_000),
    signalOf('World.Gear', 'gear', 'gear', 0),
    signalOf('World.Place', 'place', 'place', 2_000),
    signalOf('World.Air', 'air', 'air', 2_000),
  ],
  [
    signalOf('World.Lamp', 'lamp', 'lamp', 0),
    signalOf('World.Counter', 'counter', 'thousands', 3_000),
    signalOf('World.Gear', 'gear', 'gear', 0),
    signalOf('World.Place', 'place', 'place', 2_000),
  ],
  [
    signalOf('World.Gear', 'gear', 'letter', 0),
    signalOf('World.Air', 'air', 'air', 1_000),
    signalOf('World.Counter', 'counter', 'counter', 5_000),
  ],
];

/** Signals that a command collects, each under its own name, so that each reading identifies its command. */
export const COLLECTED: readonly RawSignal[] = ['counter', 'lamp', 'place'];

export function collectedSignal(name: string, signal: RawSignal, interval: number): CustomSignal {
  return signalOf(name, signal, signal, interval);
}

/** Name of the readings of a collected signal. */
export function collectedName(command: string, signal: RawSignal): string {
  return `${command}.${signal}`;
}

/** The command to whose collection a reading belongs. */
export function commandOf(name: string): string | undefined {
  return /^(command-\d+)\./.exec(name)?.[1];
}

/** Values of a car in one frame. */
interface Frame {
  readonly raw: Raw;
  /** UTC ms by the clock of the unit. */
  readonly at: number;
}

/** Maximum age of the frame behind a reading, ms: readings are repeated or recorded at a tick of the agent. */
const LATE = LASTS + 2_000;
/** Rounding of times, ms. */
const ROUNDED = 1;
const SECOND = 1_000;

/** All frames that a car has sent to its unit, and the corrections of the unit's clock. */
export class ShownSignals {
  /** By second. */
  readonly #frames = new Map<number, Frame[]>();
  /** Possible shifts of frame times, from one or several clock steps in sequence. */
  readonly #corrections = new Set<number>([0]);
  /** Total shift by the newest step and by each number of steps before it. */
  #newest: readonly number[] = [];

  add(raw: Raw, at: number): void {
    const second = Math.floor(at / SECOND);
    const known = this.#frames.get(second);
    if (known === undefined) this.#frames.set(second, [{ raw, at }]);
    else known.push({ raw, at });
  }

  /** The clock of the unit was set forward by `by` ms, which may shift its earlier timestamps too. */
  corrected(by: number): void {
    this.#newest = [by, ...this.#newest.map((earlier) => earlier + by)];
    for (const one of this.#newest) this.#corrections.add(one);
  }

  /** Whether the car had this value under this name at this time. */
  has(name: string, unit: string | undefined, value: unknown, at: number): boolean {
    const isSo = saysOf(name, unit, value);
    for (const by of this.#corrections) {
      const [least, most] = [at - by - LATE, at - by + ROUNDED];
      for (let second = Math.floor(least / SECOND); second * SECOND <= most; second++) {
        if (this.#frames.get(second)?.some((frame) => frame.at >= least && frame.at <= most && isSo(frame.raw)))
          return true;
      }
    }
    return false;
  }
}

/** Whether a frame has this value under this name, independent of the tables above. */
function saysOf(name: string, unit: string | undefined, value: unknown): (raw: Raw) => boolean {
  const near = (exact: number, step: number): boolean => Math.abs(Number(value) - exact) <= step / 2 + 1e-9;
  switch (name.split('.').at(-1)?.toLowerCase()) {
    case 'counter':
      return unit === 'k' ? ({ counter }) => near(counter / 1_000, 0.01) : ({ counter }) => value === counter;
    case 'gear':
      return ({ gear }) => value === 'Park Drive Reverse'.split(' ')[gear] || value === 'PDR'[gear];
    case 'lamp':
      return ({ lamp }) => value === (lamp === 1);
    case 'place':
      return ({ place }) => near(place, 0.01);
    case 'air':
      return ({ air }) => near(air, 0.1);
    default:
      return () => false;
  }
}
