import type { PowerSettings } from '../../protocol/settings.ts';
import { slotAt } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { Actuator, Clock, Log, Memory } from '../ports.ts';
import type { Power } from '../remotes/power.ts';
import type { BusActivity } from './bus-activity.ts';

/**
 * `active`: the car is in use. `standby`: it is not in use, but its buses are active, an operation is in progress, or
 * the unit received a message within the last minutes. `asleep`: none of these; the unit does nothing unprompted except
 * to keep the link alive, and sends no frame on a bus.
 */
export type PowerState = 'active' | 'standby' | 'asleep';

const KEY = 'power';

/** Persisted state: the sleep state, and the time (UTC ms) until which the unit stays awake if nothing else happens. */
interface State {
  readonly asleep: boolean;
  readonly until: number;
}

/** Action of the profile that wakes the car, if any. Only its frames are sent to a sleeping bus. */
export const WAKE = 'wakeUp.wake';

interface PowerParts {
  readonly clock: Clock;
  readonly status: StatusReader;
  readonly actuator: Actuator;
  readonly log: Log;
  /** Returns true if an operation is open that ends automatically but would not end in a sleeping unit. */
  readonly busy: () => boolean;
  /** Notified after a change of the state. */
  readonly changed: (state: PowerState, before: PowerState) => void;
  readonly rules: PowerSettings;
  /** Bytes to and from the broker since the start. If omitted, they are not reported. */
  readonly traffic?: () => number;
}

/** Cost of being awake since the start. */
interface PowerCost {
  readonly state: PowerState;
  /** Number of wake-ups of the unit by the car, by messages, and by programs that were due. */
  readonly wakeUps: number;
  readonly wokenByMessages: number;
  readonly wokenByPrograms: number;
  /** s */
  readonly awake: number;
  /** s */
  readonly asleep: number;
  /** Bytes to and from the broker while asleep. */
  readonly sleepBytes?: number;
}

const ignition = slotAt('ignition.type');
const powertrain = slotAt('powertrain.status');
const moving = slotAt('kinetic.moving');
const charge = slotAt('battery.voltage');
const using: ReadonlySet<unknown> = new Set(['StartUp', 'Start', 'Starting', 'Running', 'Stopping']);

/** States of car and unit, and the transitions between {@link PowerState}s. All times are monotonic ms. */
export class PowerStates implements Power {
  readonly #parts: PowerParts;
  readonly #rules: PowerSettings;
  /** Time of the last frame on any bus. Negative infinity before the first. */
  #heard = Number.NEGATIVE_INFINITY;
  /** Time of the last event that kept the unit awake for a while. */
  #stirred: number;
  #state: PowerState = 'standby';
  /** Time of the last change between awake and asleep. */
  #since: number;
  /** Total time awake and asleep in earlier periods, in ms. */
  #awakeFor = 0;
  #asleepFor = 0;
  /** Bytes of earlier sleep periods, and the broker traffic at the start of the present period. */
  #sleepBytes = 0;
  #bytesBefore = 0;
  readonly #woken = { car: 0, message: 0, program: 0 };
  /** Callers of {@link wake}, checked with every frame. */
  readonly #waiting = new Set<{ readonly actions: readonly string[]; readonly woken: () => void }>();

  constructor(parts: PowerParts) {
    this.#parts = parts;
    this.#rules = parts.rules;
    this.#stirred = parts.clock.monotonic();
    this.#since = this.#stirred;
  }

  get state(): PowerState {
    return this.#state;
  }

  get cost(): PowerCost {
    const { car, message, program } = this.#woken;
    const lasts = this.#parts.clock.monotonic() - this.#since;
    const [awake, asleep, bytes] = this.asleep() ? [0, lasts, this.#traffic() - this.#bytesBefore] : [lasts, 0, 0];
    return {
      state: this.#state,
      wakeUps: car,
      wokenByMessages: message,
      wokenByPrograms: program,
      awake: Math.round((this.#awakeFor + awake) / 1000),
      asleep: Math.round((this.#asleepFor + asleep) / 1000),
      ...(this.#parts.traffic === undefined ? {} : { sleepBytes: this.#sleepBytes + bytes }),
    };
  }

  /** Returns the state for {@link Memory}: a unit that restarts while the car sleeps continues to sleep. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    const { clock } = this.#parts;
    const asleep = this.asleep();
    const until = Math.round(clock.now() + this.#stirred + this.#rules.standbyFor - clock.monotonic());
    yield [KEY, { asleep, until: asleep ? 0 : until } satisfies State];
  }

  /** Restores the state of an earlier run. */
  recall(memory: Pick<Memory, 'recall'>): void {
    const { clock } = this.#parts;
    const { asleep, until } = (memory.recall(KEY) ?? {}) as Partial<State>;
    if (typeof until !== 'number') return;
    // The clock may have been set meanwhile, so limit the remaining time.
    const left = Math.min(Math.max(until - clock.now(), 0), this.#rules.standbyFor);
    this.#stirred = clock.monotonic() + left - this.#rules.standbyFor;
    if (asleep === true) this.#state = 'asleep';
  }

  /** Call when a bus is active: see {@link BusActivity.received}. */
  heard(): void {
    this.#heard = this.#parts.clock.monotonic();
    for (const { actions, woken } of this.#waiting) if (this.awake(actions)) woken();
    if (this.#state === 'asleep') this.#stir('car');
  }

  /** Call when a trusted message arrives or a program is due. Keeps the unit awake to answer, and for more messages. */
  stayAwake(by: 'message' | 'program' = 'message'): void {
    this.#stir(by);
  }

  asleep(): boolean {
    return this.#state === 'asleep';
  }

  /** Updates the state. Call at each tick. */
  look(): void {
    const { clock, status, busy } = this.#parts;
    const now = clock.monotonic();
    const talks = now - this.#heard <= this.#rules.busSilentAfter;
    if (talks) this.#stirred = Math.max(this.#stirred, this.#heard);
    if (talks && [ignition, powertrain, moving].some((of) => isUse(status.value(of)))) this.#become('active');
    else if (now < this.#stirred + this.#standbyFor() || busy()) this.#become('standby');
    else this.#become('asleep');
  }

  /** Returns true if the car is awake, with each bus that `actions` need: a frame sent now wakes no control unit. */
  awake(actions: readonly string[] = []): boolean {
    const talks = this.#parts.clock.monotonic() - this.#heard <= this.#rules.busSilentAfter;
    return talks && !actions.some((action) => this.#parts.actuator.asleep?.(action) === true);
  }

  /**
   * Sends the profile's wake-up frame and waits until the car is active on each bus that one of `actions` needs.
   * Returns true if the car is awake, false if it did not wake up in time.
   */
  async wake(actions: readonly string[] = []): Promise<boolean> {
    if (this.awake(actions)) return true;
    const { clock, actuator, log } = this.#parts;
    let over: (woken: boolean) => void = () => undefined;
    const heard = new Promise<boolean>((resolve) => {
      over = resolve;
    });
    const waiting = { actions, woken: () => over(true) };
    this.#waiting.add(waiting);
    const cancel = clock.after(this.#rules.wakeTimeout, () => over(false));
    if (actuator.actions.has(WAKE)) {
      // Even if the bus accepts no frame, the car may wake up for another reason. If not, the command reports that.
      const asked = actuator.actuate(WAKE);
      asked.catch((error: Error) => log.warn('power.wakeUnsent', { error: error.message }));
    }
    const woken = await heard;
    cancel();
    this.#waiting.delete(waiting);
    return woken;
  }

  #traffic(): number {
    return this.#parts.traffic?.() ?? 0;
  }

  #stir(by: 'car' | 'message' | 'program'): void {
    this.#stirred = this.#parts.clock.monotonic();
    if (this.#state !== 'asleep') return;
    this.#woken[by]++;
    this.#become('standby');
  }

  /** Returns the standby time. Shorter if the last known state of the battery is low. */
  #standbyFor(): number {
    const { standbyFor, lowBatteryStandbyFor, battery } = this.#rules;
    const left = this.#parts.status.value(charge);
    return typeof left === 'number' && left < battery ? Math.min(lowBatteryStandbyFor, standbyFor) : standbyFor;
  }

  #become(state: PowerState): void {
    const before = this.#state;
    if (state === before) return;
    const now = this.#parts.clock.monotonic();
    this.#state = state;
    if (state === 'asleep') this.#awakeFor += now - this.#since;
    else if (before === 'asleep') this.#asleepFor += now - this.#since;
    if (state === 'asleep') this.#bytesBefore = this.#traffic();
    else if (before === 'asleep') this.#sleepBytes += this.#traffic() - this.#bytesBefore;
    if (state === 'asleep' || before === 'asleep') this.#since = now;
    this.#parts.changed(state, before);
  }
}

function isUse(value: unknown): boolean {
  return value === true || using.has(value);
}
