/** A car that is driven, parked, opened and plugged in. While awake, its buses send its state once a second. */
import type { Actuator, FrameBatch, FrameDecoder, ReadingSink } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CommandRule, Confirmation, SourceMapping, VehicleProfile } from '../../protocol/profile.ts';
import { type SlotValue, slotByPath } from '../../protocol/slots.ts';
import { bareProfile } from '../rig/bare-profile.ts';
import type { Chance } from './chance.ts';
import { type Raw, type RawSignal, ShownSignals } from './signals.ts';
import type { WorldTime } from './time.ts';

/** Validity of readings, ms. */
export const TIMEOUT = 5_000;
const EVERY = 1_000;
/** Charge of the 12 V battery, %. */
export const CHARGE = 80;

const CHARGING = 'energies.Electric.extension.electric.charging';
/** In the order of the frame: the privacy state comes before the values that it hides. */
export const PATHS = {
  privacy: 'privacy.state',
  speed: 'kinetic.speed',
  ignition: 'ignition.type',
  locks: 'doorsState.lockedStates',
  door: 'doorsState.opening.Driver.state',
  lights: 'lightingSystem.turn.LeftFront.status',
  horn: 'lightingSystem.fog.LeftFront.status',
  plugged: `${CHARGING}.plugged`,
  charging: `${CHARGING}.status`,
  level: 'energies.Electric.level',
  climate: 'preconditioning.airConditioning.status',
  immobilized: 'adas.fse',
  battery: 'battery.voltage',
  mileage: 'odometer.mileage',
  temperature: 'environment.air.temp',
  latitude: 'lastPosition.latitude',
  longitude: 'lastPosition.longitude',
} as const;
export type Part = keyof typeof PATHS;

/** State with which the car confirms an action, which is also the effect of the action. */
export const EFFECTS: Readonly<Record<string, { readonly part: Part; readonly value: SlotValue }>> = {
  'doors.lock': { part: 'locks', value: ['Locked'] },
  'doors.unlock': { part: 'locks', value: ['Unlocked'] },
  'lights.on': { part: 'lights', value: 'On' },
  'lights.off': { part: 'lights', value: 'Off' },
  'horn.on': { part: 'horn', value: 'On' },
  'horn.off': { part: 'horn', value: 'Off' },
  'charging.start': { part: 'charging', value: 'InProgress' },
  'charging.stop': { part: 'charging', value: 'Stopped' },
  'preconditioning.start': { part: 'climate', value: 'Enabled' },
  'preconditioning.stop': { part: 'climate', value: 'Disabled' },
  'immobilization.on': { part: 'immobilized', value: true },
  'immobilization.off': { part: 'immobilized', value: false },
};

function confirmationOf({ part, value }: { readonly part: Part; readonly value: SlotValue }): Confirmation {
  const path = PATHS[part];
  return Array.isArray(value) ? { path, includes: String(value[0]) } : { path, equals: value as string | boolean };
}

const parts = Object.keys(PATHS) as Part[];

function sourceOf(part: Part): SourceMapping {
  const path = PATHS[part];
  const slot = slotByPath.get(path);
  const plain = { path, message: 'Car', signal: part, scale: 1, offset: 0, invalid: [], priority: 0, timeout: TIMEOUT };
  if (slot?.kind === 'flag') return { ...plain, map: { 0: false, 1: true } };
  const values = slot?.values;
  if (values === undefined) return plain;
  return { ...plain, map: Object.fromEntries(values.map((name, raw) => [raw, slot?.kind === 'set' ? [name] : name])) };
}

export const profile: VehicleProfile = {
  ...bareProfile(parts.map(sourceOf)),
  name: 'world',
  waypoints: { interval: 10_000, distance: 200, heading: 30, error: 10 },
  commands: Object.fromEntries(
    Object.entries(EFFECTS).map(([action, effect]): [string, CommandRule] => [
      action,
      { confirm: confirmationOf(effect), within: 3_000 },
    ]),
  ),
};

/** Ranges of marked values. No value outside a private time lies in them, nor does a sum or mean of such values. */
export const MARKS = {
  latitude: [-77.6, -77.4],
  temperature: [-38.6, -38.4],
} as const;

/** Values that the buses carry during a private time. */
export const HIDDEN = { latitude: MARKS.latitude[0] + 0.01, temperature: MARKS.temperature[0] + 0.1 } as const;

export type CarState = Record<Part, SlotValue>;

export interface Shown {
  readonly value: SlotValue;
  /** Time of the world. */
  readonly at: number;
}

export class WorldCar {
  readonly state: CarState = {
    speed: 0,
    ignition: 'Stop',
    locks: ['Unlocked'],
    door: 'Closed',
    lights: 'Off',
    horn: 'Off',
    plugged: true,
    charging: 'Stopped',
    level: 60,
    climate: 'Disabled',
    immobilized: false,
    battery: CHARGE,
    mileage: 1_000,
    temperature: 20,
    latitude: 48.8,
    longitude: 2.3,
    privacy: 'None',
  };
  /** Latest values sent to the agent. */
  readonly shown = new Map<Part, Shown>();
  /** Whether the buses carry frames. */
  awake = true;
  obeys = true;
  /** Whether the controller is bus-off: no frame is received or sent. */
  isBusOff = false;
  /** Custom signals of each frame in the current batch. */
  raws: readonly Raw[] = [];
  readonly signals = new ShownSignals();
  #frames = 0;
  readonly #time: WorldTime;
  readonly #chance: Chance;
  /** Receiver of the frames. Undefined: the unit has no power. */
  #receive: ((batch: FrameBatch) => void) | undefined;
  #wall: () => number = () => 0;
  /** State of the hidden parts before privacy began. */
  #public: Partial<CarState> = {};

  constructor(time: WorldTime, chance: Chance) {
    this.#time = time;
    this.#chance = chance;
    this.#tick();
  }

  /** Connects the unit's receiver. Its clock `wall` timestamps the frames. */
  connect(receive: ((batch: FrameBatch) => void) | undefined, wall: () => number = () => 0): void {
    this.#receive = receive;
    this.#wall = wall;
    this.shown.clear();
  }

  /** Decodes the frames of this car. Readings of custom signals come last. */
  decoder(custom: readonly RawSignal[] = []): FrameDecoder {
    return {
      decode: (batch, sink: ReadingSink) => {
        for (let frame = 0; frame < batch.count; frame++) {
          const at = batch.at[frame] as number;
          for (const [signal, part] of parts.entries()) {
            const raw = rawOf(part, this.state[part]);
            sink.reading(signal, raw, raw, at);
            this.shown.set(part, { value: this.state[part], at: this.#time.now });
          }
          for (const [place, signal] of custom.entries()) {
            const raw = this.raws[frame]?.[signal] as number;
            sink.reading(parts.length + place, raw, raw, at);
          }
          sink.settled(at);
        }
      },
    };
  }

  /** Sends the current state of the car on its buses, in one frame or several. */
  show(count = 1): void {
    if (!this.awake || this.isBusOff || this.#receive === undefined) return;
    const at = this.#wall();
    this.raws = Array.from({ length: count }, () => this.#raw());
    for (const raw of this.raws) this.signals.add(raw, at);
    this.#receive({
      count,
      at: new Float64Array(count).fill(at),
      id: new Uint32Array(count).fill(1),
      bus: new Uint8Array(count),
      flags: new Uint8Array(count),
      length: new Uint8Array(count).fill(8),
      offset: Uint32Array.from({ length: count }, (_, frame) => 8 * frame),
      data: new Uint8Array(8 * count),
    });
  }

  #raw(): Raw {
    const counter = ++this.#frames;
    const { latitude, temperature } = this.state;
    const [gear, lamp] = [Math.floor(counter / 7) % 3, Math.floor(counter / 5) % 2];
    return { counter, gear, lamp, place: latitude as number, air: temperature as number };
  }

  /** Carries out an action after a delay, if the car obeys. */
  act(action: string): void {
    const effect = EFFECTS[action];
    if (effect === undefined || !this.obeys) return;
    this.#time.after(this.#chance.between(100, 2_500), () => {
      this.state[effect.part] = effect.value;
    });
  }

  /** Chooses privacy in the car: from now on, hidden values are marked. */
  hide(state: 'Geolocation' | 'Full'): void {
    const { privacy, latitude, temperature } = this.state;
    if (privacy !== 'None') return;
    this.#public = { latitude, temperature };
    this.state.privacy = state;
    this.state.latitude = HIDDEN.latitude;
    if (state === 'Full') this.state.temperature = HIDDEN.temperature;
    this.show();
  }

  unhide(): void {
    if (this.state.privacy === 'None') return;
    Object.assign(this.state, { privacy: 'None', ...this.#public });
    this.show();
  }

  wake(): void {
    if (this.awake) return;
    this.awake = true;
    this.#tick();
  }

  #tick(): void {
    this.#time.after(EVERY, () => {
      if (!this.awake) return;
      this.#drive();
      this.show();
      this.#tick();
    });
  }

  #drive(): void {
    const { state } = this;
    const speed = state.speed as number;
    const metres = (speed / 3.6) * (EVERY / 1000);
    state.mileage = Math.round(((state.mileage as number) + metres / 1000) * 10) / 10;
    state.latitude = Math.round(((state.latitude as number) + metres / 111_000) * 1e7) / 1e7;
    if (state.ignition === 'Start' && speed > 0) {
      state.speed = Math.min(130, Math.max(5, speed + this.#chance.between(-5, 5)));
    }
  }
}

function rawOf(part: Part, value: SlotValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const name = Array.isArray(value) ? String(value[0]) : String(value);
  return slotByPath.get(PATHS[part])?.values?.indexOf(name) ?? 0;
}

/** Sends command frames to the car. */
export function actuatorOf(
  car: WorldCar,
  time: WorldTime,
  alive: () => boolean,
  acts: (action: string) => void,
): Actuator {
  return {
    actions: new Set([...Object.keys(EFFECTS), 'wakeUp.wake']),
    async actuate(action, _parameters, allowed) {
      if (!alive()) return;
      if (action === 'wakeUp.wake') {
        time.after(500, () => car.wake());
        return;
      }
      allowed?.();
      if (car.isBusOff) throw new VigieError('input.unreadable', 'the controller is bus-off');
      acts(action);
      car.act(action);
      // The frame is repeated as profiles require.
      await time.wait(100);
      allowed?.();
    },
  };
}
