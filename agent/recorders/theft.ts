import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import { recordingDefaults, type TheftRule } from '../../protocol/recording.ts';
import { type Theft, theftSchema } from '../../protocol/schema/theft.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { StatusWriter } from '../model/mapping.ts';
import { distance, presentPosition } from '../model/position.ts';
import type { StatusReader } from '../model/status.ts';
import type { Records } from '../records.ts';
import type { Recorder } from './recorder.ts';

const trigger = slotAt('alarm.trigger.type');
const ignition = slotAt('ignition.type');
const latitude = slotAt('lastPosition.latitude');
const longitude = slotAt('lastPosition.longitude');
const mileage = slotAt('odometer.mileage');
const stolen = {
  state: slotAt('stolen.state'),
  id: slotAt('stolen.id'),
  startedAt: slotAt('stolen.startedAt'),
  startPosition: slotAt('stolen.startPosition'),
};
const keyPresent = channelByPath.get('key.present') as Channel;

/** Alarm triggers which mean that the car is driven without the right key. */
const keyless: ReadonlySet<SlotValue> = new Set(['KeyLearning', 'UnauthenticatedStartup']);

/** Time and place of the alarm that started a suspicion: movement from there without a key is a theft. */
interface Suspicion {
  at: number;
  readonly keyless: boolean;
  readonly place: { readonly latitude: number; readonly longitude: number } | undefined;
  /** km */
  readonly mileage: number | undefined;
}

interface State {
  readonly theft: Theft | undefined;
  readonly suspicion: Suspicion | undefined;
  readonly key: boolean | undefined;
  readonly movedAt: number | undefined;
}

interface TheftParts {
  readonly status: StatusReader;
  readonly writer: StatusWriter;
  readonly records: Records;
  readonly rule: TheftRule | undefined;
}

/**
 * Determines whether the car counts as stolen: declared by command until it is declared found, or detected by the car
 * (alarm, then movement without key) until a key is present again or it is declared found.
 */
export class TheftRecorder implements Recorder {
  readonly name = 'stolen';
  readonly watches = [trigger, latitude, longitude, mileage];
  readonly #parts: TheftParts;
  readonly #rule: TheftRule;
  #theft: Theft | undefined;
  #suspicion: Suspicion | undefined;
  #key: boolean | undefined;
  /**
   * Time of the position read since the last tick. Its two coordinates arrive one after the other.
   */
  #movedAt: number | undefined;

  constructor(parts: TheftParts) {
    this.#parts = parts;
    this.#rule = parts.rule ?? recordingDefaults.theft;
  }

  /** The theft in progress. */
  get current(): Theft | undefined {
    return this.#theft;
  }

  /** Applies a command of the owner: the car is stolen, or is not. */
  declare(isStolen: boolean, at: number): void {
    if (!isStolen) {
      this.#end(at);
      return;
    }
    // The driver's privacy setting does not protect a thief.
    this.#parts.writer.expose(true, at);
    if (this.#theft === undefined) this.#begin('Declared', at);
    else if (this.#theft.origin !== 'Declared') this.#put({ ...this.#theft, origin: 'Declared' }, at);
  }

  changed(changed: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void {
    if (changed === trigger) {
      if (value === 'NoBreakIn' || previous === undefined) return;
      this.#suspicion = {
        at,
        keyless: keyless.has(value),
        place: this.#place(),
        mileage: this.#parts.status.value(mileage) as number | undefined,
      };
    } else if (changed === latitude || changed === longitude) this.#movedAt = at;
    else if (changed === mileage) this.#look(at);
  }

  channel(channel: Channel, value: SlotValue, at: number): void {
    if (channel !== keyPresent) return;
    this.#key = value === true;
    if (!this.#key) return;
    this.#suspicion = undefined;
    if (this.#theft?.origin === 'Alarm') this.#end(at);
  }

  tick(now: number): void {
    if (this.#movedAt !== undefined) this.#look(this.#movedAt);
    this.#movedAt = undefined;
    const suspicion = this.#suspicion;
    if (suspicion === undefined) return;
    // If the clock stepped back, a suspicion must not last forever.
    if (now < suspicion.at) suspicion.at = now;
    if (now - suspicion.at > this.#rule.within) this.#suspicion = undefined;
  }

  flush(): void {}

  state(): unknown {
    return {
      theft: this.#theft,
      suspicion: this.#suspicion,
      key: this.#key,
      movedAt: this.#movedAt,
    } satisfies State;
  }

  restore(state: unknown): void {
    const { theft, suspicion, key, movedAt } = state as Partial<State>;
    if (theft !== undefined && typeof theft.id !== 'string') {
      throw new VigieError('input.malformed', 'the theft that was kept has no id');
    }
    this.#theft = theft;
    this.#suspicion = suspicion;
    this.#key = key;
    this.#movedAt = movedAt;
    if (theft?.origin === 'Declared') this.#parts.writer.expose(true, theft.startedAt);
  }

  correct(by: number, latest: number): void {
    if (this.#suspicion !== undefined) this.#suspicion.at += by;
    if (this.#movedAt !== undefined) this.#movedAt += by;
    if (this.#theft !== undefined) this.#theft = shiftInstants(theftSchema, this.#theft, by, latest);
  }

  /** Call when the car has moved. Decides whether it has no key and is far enough from where the alarm went off. */
  #look(at: number): void {
    const suspicion = this.#suspicion;
    if (suspicion === undefined || this.#theft !== undefined || at - suspicion.at > this.#rule.within) return;
    if (!this.#withoutKey(suspicion) || this.#way(suspicion) < this.#rule.distance) return;
    this.#suspicion = undefined;
    this.#begin('Alarm', at);
  }

  #withoutKey(suspicion: Suspicion): boolean {
    if (suspicion.keyless || this.#key === false) return true;
    // A car that does not report keys and rolls with the ignition off is being towed.
    return this.#key === undefined && this.#parts.status.value(ignition) === 'Stop';
  }

  /** Returns the distance in m from where the alarm went off, according to the available readings. */
  #way(suspicion: Suspicion): number {
    const place = this.#place();
    const driven = this.#parts.status.value(mileage) as number | undefined;
    const byPlace = place === undefined || suspicion.place === undefined ? 0 : distance(suspicion.place, place);
    const byMileage = driven === undefined || suspicion.mileage === undefined ? 0 : (driven - suspicion.mileage) * 1000;
    return Math.max(byPlace, byMileage);
  }

  #place(): Suspicion['place'] {
    const { status } = this.#parts;
    const [north, east] = [status.value(latitude), status.value(longitude)];
    return typeof north === 'number' && typeof east === 'number' ? { latitude: north, longitude: east } : undefined;
  }

  #begin(origin: Theft['origin'], at: number): void {
    const { status, writer, records } = this.#parts;
    const startedAt = Math.round(at);
    const startPosition = presentPosition(status);
    const theft: Theft = {
      createdAt: startedAt,
      id: records.newId(startedAt),
      state: true,
      startedAt,
      ...defined({ startPosition, origin }),
    };
    this.#theft = theft;
    records.put('stolen', theft);
    writer.set(stolen.id, theft.id, at);
    writer.set(stolen.startedAt, startedAt, at);
    if (startPosition !== undefined) writer.set(stolen.startPosition, startPosition, at);
    writer.set(stolen.state, true, at);
  }

  #end(at: number): void {
    const theft = this.#theft;
    if (theft === undefined) return;
    const endPosition = presentPosition(this.#parts.status);
    const endAt = Math.max(Math.round(at), theft.startedAt);
    this.#put({ ...theft, state: false, endAt, ...defined({ endPosition }) }, endAt);
    this.#theft = undefined;
    for (const slot of Object.values(stolen)) this.#parts.writer.remove(slot, at);
    this.#parts.writer.expose(false, at);
  }

  #put(theft: Theft, at: number): void {
    this.#theft = { ...theft, updatedAt: Math.max(Math.round(at), theft.createdAt) };
    this.#parts.records.put('stolen', this.#theft);
  }
}
