import type { Slot } from '../protocol/slots.ts';
import { slotByPath } from '../protocol/slots.ts';
import type { Actuator, Clock, Log, Memory } from './ports.ts';
import type { Power } from './remotes/power.ts';
import type { StatusReader } from './status.ts';

/**
 * `active`: the car is used. `standby`: it is not, but its buses talk, something is under way, or somebody spoke to the
 * unit within the last minutes. `asleep`: nothing of that; the unit does nothing of its own accord but keep the link
 * alive, and puts no frame on a bus.
 */
export type PowerState = 'active' | 'standby' | 'asleep';

export interface PowerRules {
  /** A bus that says nothing for so long sleeps, ms. */
  readonly silence: number;
  /** The unit stays awake for so long after a frame or a message, ms. Interface 3.19.2: three minutes. */
  readonly linger: number;
  /** The car has to wake up within, ms. */
  readonly waking: number;
}

export const powerDefaults: PowerRules = { silence: 5_000, linger: 180_000, waking: 10_000 };

const KEY = 'power';

/** What is kept: whether the unit sleeps, and until when (UTC ms) it stays awake at least. */
interface State {
  readonly asleep: boolean;
  readonly until: number;
}

/** Action of the profile that wakes the car, if it has one. */
const WAKE = 'wakeUp.wake';

export interface PowerParts {
  readonly clock: Clock;
  readonly status: StatusReader;
  readonly actuator: Actuator;
  readonly log: Log;
  /** Something is open that ends by itself and would not be ended in a unit that sleeps. */
  readonly busy: () => boolean;
  /** Told after the state has changed. */
  readonly changed: (state: PowerState, before: PowerState) => void;
  readonly rules?: Partial<PowerRules>;
}

/** What being awake has cost since the start. */
export interface PowerCost {
  readonly state: PowerState;
  /** Times the unit was woken by the car, and by messages. */
  readonly wakeUps: number;
  readonly wokenByMessages: number;
  /** s */
  readonly awake: number;
}

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const ignition = slot('ignition.type');
const powertrain = slot('powertrain.status');
const moving = slot('kinetic.moving');
const using: ReadonlySet<unknown> = new Set(['StartUp', 'Start', 'Starting', 'Running', 'Stopping']);

/** Whether car and unit are awake, and what moves them between {@link PowerState}s. All times are monotonic ms. */
export class PowerStates implements Power {
  readonly #parts: PowerParts;
  readonly #rules: PowerRules;
  /** When a bus was heard last; none was yet. */
  #heard = Number.NEGATIVE_INFINITY;
  #until: number;
  #state: PowerState = 'standby';
  #awakeSince: number;
  /** ms of earlier times awake. */
  #awakeFor = 0;
  #wakeUps = 0;
  #wokenByMessages = 0;
  /** Resolved by the next frame. */
  #waiting: (() => void)[] = [];

  constructor(parts: PowerParts) {
    this.#parts = parts;
    this.#rules = { ...powerDefaults, ...parts.rules };
    const now = parts.clock.monotonic();
    this.#until = now + this.#rules.linger;
    this.#awakeSince = now;
  }

  get state(): PowerState {
    return this.#state;
  }

  get cost(): PowerCost {
    const running = this.#state === 'asleep' ? 0 : this.#parts.clock.monotonic() - this.#awakeSince;
    return {
      state: this.#state,
      wakeUps: this.#wakeUps,
      wokenByMessages: this.#wokenByMessages,
      awake: Math.round((this.#awakeFor + running) / 1000),
    };
  }

  /** State for {@link Memory}: a unit that is started anew while the car sleeps goes on sleeping. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    const { clock } = this.#parts;
    const until = Math.round(clock.now() + this.#until - clock.monotonic());
    yield [KEY, { asleep: this.#state === 'asleep', until: this.#state === 'asleep' ? 0 : until } satisfies State];
  }

  /** Takes up what an earlier run kept. */
  recall(memory: Pick<Memory, 'recall'>): void {
    const { clock } = this.#parts;
    const { asleep, until } = (memory.recall(KEY) ?? {}) as Partial<State>;
    if (typeof until !== 'number') return;
    // However the clock was set meanwhile.
    const left = Math.min(Math.max(until - clock.now(), 0), this.#rules.linger);
    this.#until = clock.monotonic() + left;
    if (asleep === true) this.#state = 'asleep';
  }

  /** A bus talks. */
  heard(): void {
    this.#heard = this.#parts.clock.monotonic();
    if (this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
    if (this.#state !== 'asleep') return;
    this.#wakeUps++;
    this.#linger();
  }

  /** Somebody spoke to the unit: it stays awake to answer, and for what may follow. */
  spokenTo(): void {
    if (this.#state === 'asleep') this.#wokenByMessages++;
    this.#linger();
  }

  /** Looks whether the state is still right; at each tick. */
  look(): void {
    const { clock, status, busy } = this.#parts;
    const now = clock.monotonic();
    const talks = now - this.#heard <= this.#rules.silence;
    if (talks) this.#until = Math.max(this.#until, this.#heard + this.#rules.linger);
    if (talks && [ignition, powertrain, moving].some((of) => isUse(status.value(of)))) this.#become('active');
    else if (now < this.#until || busy()) this.#become('standby');
    else this.#become('asleep');
  }

  /** The car's buses talk, so that a frame wakes nobody. */
  awake(): boolean {
    return this.#parts.clock.monotonic() - this.#heard <= this.#rules.silence;
  }

  /** Asks the car to wake up, by the frame that its profile has for that, and waits until it is heard. */
  async wake(): Promise<boolean> {
    if (this.awake()) return true;
    const { clock, actuator, log } = this.#parts;
    let cancel: () => void = () => undefined;
    const heard = new Promise<boolean>((resolve) => {
      this.#waiting.push(() => resolve(true));
      cancel = clock.after(this.#rules.waking, () => resolve(false));
    });
    if (actuator.actions.has(WAKE)) {
      // A car whose bus takes no frame may still wake up by itself; if it does not, that is what is told.
      const asked = actuator.actuate(WAKE);
      asked.catch((error: Error) => log.warn('the car could not be asked to wake up', { error: error.message }));
    }
    const woken = await heard;
    cancel();
    return woken;
  }

  #linger(): void {
    this.#until = this.#parts.clock.monotonic() + this.#rules.linger;
    if (this.#state === 'asleep') this.#become('standby');
  }

  #become(state: PowerState): void {
    const before = this.#state;
    if (state === before) return;
    const now = this.#parts.clock.monotonic();
    this.#state = state;
    if (state === 'asleep') this.#awakeFor += now - this.#awakeSince;
    else if (before === 'asleep') this.#awakeSince = now;
    this.#parts.changed(state, before);
  }
}

function isUse(value: unknown): boolean {
  return value === true || using.has(value);
}
