import { defined } from '../../protocol/defined.ts';
import { formatDuration } from '../../protocol/duration.ts';
import {
  PROGRAMS,
  type RemoteChargeProgram,
  type RemotePreconditioningProgram,
  secondsOfDay,
} from '../../protocol/remote/programs.ts';
import type { RemoteType } from '../../protocol/remote/table.ts';
import { weekdays } from '../../protocol/schema/monitor/schedule.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { StatusWriter } from '../model/mapping.ts';
import type { Status } from '../model/status.ts';
import { localSeconds, nextOf, type Occurrence, type Schedule, type When } from '../power/schedule.ts';
import type { Effect } from './plan.ts';
import { PreconditioningRuns } from './preconditioning-runs.ts';

const CHARGING = 'energies.Electric.extension.electric.charging';
const slots = {
  preconditioning: slotAt('preconditioning.airConditioning.programs'),
  charging: slotAt(`${CHARGING}.schedule.programs`),
  delayed: slotAt(`${CHARGING}.nextDelayedTime`),
};

/** A stored program, in the same form as in Status. */
interface Kept {
  readonly slot: number;
  readonly enabled: boolean;
  readonly recurrence?: 'None' | 'Daily';
  readonly start: string;
  readonly occurence?: { readonly day: readonly (typeof weekdays)[number][] };
  readonly end?: string;
}

/** A command of a program. */
export interface ScheduledCommand {
  readonly type: RemoteType;
  readonly body: object;
  /** Longest delay in ms after which it is still carried out. */
  readonly window: number;
}

/** Longest delay in ms per kind. Late preconditioning is useless; late charging is better than none. */
const WINDOW = { preconditioning: 15 * 60_000, charging: 2 * 3_600_000 };

/** Keys in the schedule. */
const preconditioningKey = (place: number): string => `precondition/${place}`;
const chargingKey = (place: number): string => `charge/${place}`;
const endKey = (place: number): string => `charge/${place}/end`;
const DELAYED = 'charge/next';

interface ProgramsParts {
  readonly schedule: Schedule;
  readonly writer: StatusWriter;
  readonly status: Pick<Status, 'value' | 'observe'>;
  /** Time zone of the car, a name of the IANA database. */
  readonly zone: string;
  /** UTC ms. */
  readonly now: () => number;
}

/** Stores, schedules and writes to Status: programs of preconditioning and charging, and delayed charging. */
export class Programs {
  readonly runs: PreconditioningRuns;
  readonly #parts: ProgramsParts;
  #preconditioning: readonly Kept[] = [];
  #charging: readonly Kept[] = [];
  /** Start of the delayed charging, UTC ms. */
  #delayed: number | undefined;
  /** Slots that this agent wrote. It must not overwrite charging times that the car reports. */
  readonly #written = new Set<Slot>();

  constructor(parts: ProgramsParts) {
    this.#parts = parts;
    this.runs = new PreconditioningRuns(parts.writer);
    parts.status.observe(this.runs);
  }

  /** Sets or deletes the programs of the named slots. */
  preconditioning(changes: readonly RemotePreconditioningProgram[]): Effect {
    const next = (): Kept[] => {
      const others = this.#preconditioning.filter((kept) => !changes.some((change) => change.slot === kept.slot));
      const set = changes.filter(({ actionsType }) => actionsType !== 'Delete');
      return sorted([...others, ...set.map((program) => keptOf(program as RemotePreconditioningProgram & Timed))]);
    };
    return {
      done: () => same(next(), this.#preconditioning),
      apply: (at) => {
        const programs = next();
        for (let place = 1; place <= PROGRAMS; place++) {
          const program = programs.find((kept) => kept.slot === place);
          // An unchanged program keeps its schedule, including its past occurrences.
          if (this.#preconditioning.some((kept) => same(kept, program))) continue;
          this.#plan(preconditioningKey(place), program, program?.start, at);
        }
        this.#preconditioning = programs;
        this.show(at);
      },
    };
  }

  /** Replaces all charging programs by `programs`. A program without slot gets the first free slot. */
  charging(programs: readonly RemoteChargeProgram[]): Effect {
    const taken = new Set(programs.map(({ slot: place }) => place));
    const free = Array.from({ length: PROGRAMS }, (_, index) => index + 1).filter((place) => !taken.has(place));
    const next = sorted(
      programs.map((program) => keptOf({ ...program, slot: program.slot ?? (free.shift() as number) })),
    );
    return {
      done: () => same(next, this.#charging),
      apply: (at) => {
        for (let place = 1; place <= PROGRAMS; place++) {
          const program = next.find((kept) => kept.slot === place);
          if (this.#charging.some((kept) => same(kept, program))) continue;
          this.#plan(chargingKey(place), program, program?.start, at);
          this.#plan(endKey(place), program, program?.end, at);
        }
        this.#charging = next;
        this.show(at);
      },
    };
  }

  /** Starts charging once, at a time (UTC ms) or at the next local time of day (`PT22H30M`). */
  delayed(when: number | string): Effect {
    const moment = (now: number): number =>
      typeof when === 'number' ? when : nextOf(this.#local(secondsOfDay(when) as number, undefined, true), now);
    return {
      done: () => this.#delayed !== undefined && this.#delayed === moment(this.#parts.now()),
      refusal: () =>
        typeof when === 'string' || when > this.#parts.now()
          ? undefined
          : { code: 'command.malformed', detail: 'schedule.nextDelayedTime has passed' },
      apply: (at) => {
        this.#delayed = moment(at);
        this.#parts.schedule.set(DELAYED, { kind: 'once', at: this.#delayed }, at);
        this.show(at);
      },
    };
  }

  /** Returns the command of an occurrence, or undefined. Removes a one-time program. */
  scheduled({ key, last }: Occurrence, now: number): ScheduledCommand | undefined {
    const [kind, place, end] = key.split('/');
    if (kind === 'precondition') {
      if (last) this.#preconditioning = this.#preconditioning.map((kept) => spent(kept, Number(place)));
      if (last) this.show(now);
      const body = { airConditioning: { immediate: true } };
      return { type: 'ThermalPreconditioning', body, window: WINDOW.preconditioning };
    }
    if (kind !== 'charge') return undefined;
    if (key === DELAYED) {
      this.#delayed = undefined;
      this.show(now);
    }
    return { type: 'ElectricBatteryChargingRequest', body: { immediate: end === undefined }, window: WINDOW.charging };
  }

  /** Restores values that Status lacks, because privacy hid them or a restart lost them. */
  look(now: number): void {
    const { status } = this.#parts;
    const missing = (kept: unknown, shown: Slot): boolean => kept !== undefined && status.value(shown) === undefined;
    const some = (programs: readonly Kept[]): unknown => (programs.length === 0 ? undefined : programs);
    if (
      missing(some(this.#preconditioning), slots.preconditioning) ||
      missing(some(this.#charging), slots.charging) ||
      missing(this.#delayed, slots.delayed)
    ) {
      this.show(now);
    }
  }

  /** Writes all stored programs to Status. */
  show(at: number): void {
    const { writer, zone } = this.#parts;
    const write = (shown: Slot, value: SlotValue | undefined): void => {
      if (value !== undefined) {
        this.#written.add(shown);
        writer.set(shown, value, at);
      } else if (this.#written.delete(shown)) writer.remove(shown, at);
    };
    write(slots.preconditioning, this.#preconditioning.length === 0 ? undefined : this.#preconditioning);
    write(slots.charging, this.#charging.length === 0 ? undefined : this.#charging);
    const local = this.#delayed === undefined ? undefined : localSeconds(zone, this.#delayed);
    write(slots.delayed, local === undefined ? undefined : formatDuration(local));
  }

  /** Returns data of types that CBOR and JSON have. The schedule has its own state. */
  state(): unknown {
    return {
      preconditioning: this.#preconditioning,
      charging: this.#charging,
      ...defined({ delayed: this.#delayed }),
      ...(this.runs.isScheduled ? { runScheduled: true } : {}),
    };
  }

  /** Restores {@link state}. Unreadable parts count as empty. */
  restore(state: unknown): void {
    const { preconditioning, charging, delayed, runScheduled } = (state ?? {}) as Record<string, unknown>;
    if (runScheduled === true) this.runs.restore(this.#parts.now());
    this.#preconditioning = Array.isArray(preconditioning) ? preconditioning.filter(isKept) : [];
    this.#charging = Array.isArray(charging) ? charging.filter(isKept) : [];
    this.#delayed = typeof delayed === 'number' && Number.isFinite(delayed) ? delayed : undefined;
    // Status has restored the programs from the earlier run.
    if (this.#preconditioning.length > 0) this.#written.add(slots.preconditioning);
    if (this.#charging.length > 0) this.#written.add(slots.charging);
    if (this.#delayed !== undefined) this.#written.add(slots.delayed);
  }

  #plan(key: string, program: Kept | undefined, time: string | undefined, now: number): void {
    const { schedule } = this.#parts;
    if (program === undefined || time === undefined || !program.enabled) {
      schedule.remove(key);
      return;
    }
    const start = secondsOfDay(program.start) as number;
    const seconds = secondsOfDay(time) as number;
    const names = program.occurence?.day;
    // An end that is no later than the start is on the next day.
    const shift = key.endsWith('/end') && seconds <= start ? 1 : 0;
    const days = weekdays.map(
      (_, day) => names === undefined || names.includes(weekdays[(day - shift + 7) % 7] as never),
    );
    schedule.set(key, this.#local(seconds, days, program.recurrence !== 'None'), now);
  }

  #local(seconds: number, days: readonly boolean[] | undefined, repeats: boolean): When {
    const every = weekdays.map(() => true);
    return { kind: 'local', seconds, weekdays: days ?? every, zone: this.#parts.zone, repeats };
  }
}

interface Timed {
  readonly slot: number;
  readonly start: string;
}

function keptOf(program: (RemoteChargeProgram | RemotePreconditioningProgram) & Timed): Kept {
  const { slot: place, enabled = true, start, occurence } = program;
  const recurrence = 'recurrence' in program ? program.recurrence : undefined;
  const end = 'end' in program ? program.end : undefined;
  return {
    slot: place,
    enabled,
    start,
    ...defined({ recurrence }),
    ...(occurence === undefined ? {} : { occurence: { day: weekdays.filter((day) => occurence.day.includes(day)) } }),
    ...defined({ end }),
  };
}

/** Disables a one-time program after it has run. */
function spent(kept: Kept, place: number): Kept {
  return kept.slot === place ? { ...kept, enabled: false } : kept;
}

function sorted(programs: readonly Kept[]): Kept[] {
  return programs.toSorted((a, b) => a.slot - b.slot);
}

/** Compares two results of {@link keptOf}, which have their fields in the same order. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isKept(data: unknown): data is Kept {
  const { slot: place, enabled, start } = (data ?? {}) as Partial<Kept>;
  return typeof place === 'number' && typeof enabled === 'boolean' && secondsOfDay(String(start)) !== undefined;
}
