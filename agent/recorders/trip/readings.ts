/** Applies a reading of one slot, new or repeated, to the measures of a trip and the facts of the car. */
import type { Slot, SlotValue } from '../../../protocol/slots.ts';
import { distance, presentPosition } from '../../model/position.ts';
import type { StatusReader } from '../../model/status.ts';
import { propulsionOf } from './car.ts';
import * as meters from './distance.ts';
import { type EnergyType, type GaugeMember, gaugeMembers, readGauge } from './energy.ts';
import type { CarUse } from './evidence.ts';
import type { TripMachine } from './machine.ts';
import * as slots from './slots.ts';
import type { TripState } from './state.ts';

/** Energy of a slot, and its quantity. */
export interface GaugeSlot {
  readonly type: EnergyType;
  readonly member: GaugeMember;
}

export const gaugeSlots: ReadonlyMap<Slot, GaugeSlot> = new Map(
  (['Fuel', 'Electric'] as const).flatMap((type) =>
    gaugeMembers.map((member) => [slots.energies[type][member], { type, member }] as const),
  ),
);

export const nothing: CarUse = { moved: false, rolls: false, rests: false };
/** Distance in km from the start within which a first reading counts as the value at the start of the trip. */
const EARLY = 1;

export class TripReadings {
  readonly #state: TripState;
  readonly #status: StatusReader;
  readonly #machine: TripMachine;
  readonly #rule: { readonly moving: number; readonly silence: number };

  constructor(
    state: TripState,
    status: StatusReader,
    machine: TripMachine,
    rule: { readonly moving: number; readonly silence: number },
  ) {
    this.#state = state;
    this.#status = status;
    this.#machine = machine;
    this.#rule = rule;
  }

  /** Applies a new value. */
  read(slot: Slot, value: SlotValue, now: number): CarUse {
    if (slot === slots.speed && typeof value === 'number') return this.#speed(value, now);
    if (slot === slots.mileage && typeof value === 'number') return this.#odometer(value, now);
    if (slot !== slots.moving) return nothing;
    // If the car has a speed, only that counts; a speed below the rule's is not driving.
    const speedless = this.#status.value(slots.speed) === undefined;
    return { moved: speedless && value === true, rolls: false, rests: value === false };
  }

  /** Applies a value that was read again since the last tick, unchanged. */
  repeat(slot: Slot, now: number): CarUse {
    const { meter, tickAt } = this.#state;
    const value = this.#status.value(slot);
    if (value === undefined) return nothing;
    if (slot === slots.speed && meter.speed !== null) {
      // The time of the reading is unknown; at the last tick the value was the same.
      if (tickAt !== null) this.#share(meters.holdSpeed(meter, tickAt, this.#rule.silence));
      const rolls = meter.speed.value > this.#rule.moving;
      if (rolls) this.#machine.stir('rolls', now, now);
      return { moved: false, rolls, rests: !rolls };
    }
    if (slot === slots.mileage) {
      meters.holdOdometer(meter, now);
      if (meter.odometer !== null) return nothing;
      this.read(slot, value, now);
      // The odometer is unchanged since the last reading of the car: the car was not driven meanwhile.
      return { ...nothing, rests: true };
    }
    return this.read(slot, value, now);
  }

  /** Applies a fix received at `at`. */
  fix(at: number): CarUse {
    const state = this.#state;
    state.position = presentPosition(this.#status) ?? null;
    if (state.position === null) return nothing;
    const [longitude, latitude] = state.position.geometry.coordinates;
    const place = { latitude, longitude };
    const { meter } = state;
    const stayed = meter.fix !== null && distance(meter.fix, place) < meters.DRIFT;
    const found = stayed && !state.fixed;
    // The first fix after a silence may be at another position: the car did not drive there just now.
    if (!state.fixed) meters.forget(meter, 'fix');
    else if (meter.fix !== null && !stayed) this.#machine.stir('left', at, meter.fix.seen);
    state.fixed = true;
    const leg = meters.readFix(meter, place, at);
    this.#share(leg.gone);
    return { ...nothing, moved: leg.moved, rests: found || leg.stayed };
  }

  /** Applies a repetition of the last fix. */
  sameFix(now: number): CarUse {
    const { meter, fixed } = this.#state;
    this.#state.fixed = true;
    return { ...nothing, rests: meters.holdFix(meter, now) || !fixed };
  }

  gauge({ type, member }: GaugeSlot, value: SlotValue | undefined, now: number): void {
    if (typeof value !== 'number') return;
    const { open, gauges, meter } = this.#state;
    gauges[type].at = now;
    const stands = meter.speed !== null && meter.speed.value <= this.#rule.moving;
    readGauge(type, gauges[type], member, value, {
      standing: stands || (open !== null && open.pause !== null),
      charging: this.#status.value(slots.chargingStatus) === 'InProgress',
      early: this.#early(),
    });
  }

  #speed(value: number, now: number): CarUse {
    const state = this.#state;
    const rolls = value > this.#rule.moving;
    if (rolls) this.#machine.stir('rolls', now, now);
    this.#share(meters.readSpeed(state.meter, value, now, this.#rule.silence));
    state.maxSpeed = Math.max(state.maxSpeed ?? 0, value);
    return { moved: false, rolls, rests: !rolls };
  }

  #odometer(value: number, now: number): CarUse {
    const state = this.#state;
    const { meter, open } = state;
    if (meter.odometer !== null && value > meter.odometer.value) this.#machine.stir('stepped', now, now);
    const measured = meter.stretch[0] + meter.stretch[1] > 0;
    const step = meters.readOdometer(meter, value, now, this.#rule.silence);
    if (open === null) state.startMileage ??= value;
    else if (open.startMileage === null && this.#early()) {
      open.startMileage = Math.max(0, Math.round((value - meters.way(meter)) * 10) / 10);
    }
    // The distance by speed or positions is assigned already.
    if (!measured) this.#share(step);
    return { ...nothing, moved: step > 0 };
  }

  #early(): boolean {
    return this.#state.open === null || meters.way(this.#state.meter) < EARLY;
  }

  #share(gone: number): void {
    if (gone <= 0) return;
    const { Fuel, Electric } = this.#state.gauges;
    const propulsion = propulsionOf(this.#status, {
      Fuel: Fuel.level !== null || Fuel.measure !== null,
      Electric: Electric.level !== null || Electric.measure !== null,
    });
    if (propulsion !== undefined) this.#state.shares[propulsion] += gone;
  }
}
