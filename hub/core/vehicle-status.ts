/** Status and description of one car, from its `status` and `vehicle` messages in any order of arrival. */
import type { Message } from '../../protocol/schema/message.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import type { StatusMessage } from '../../protocol/schema/status-message.ts';
import type { TripReport } from '../../protocol/schema/trip.ts';
import type { VehicleBody } from '../../protocol/schema/vehicle.ts';
import {
  assemble,
  type Disassembled,
  disassemble,
  type Slot,
  type SlotValue,
  slotById,
  slots,
  statusObjects,
} from '../../protocol/slots.ts';
import { isAfter, type MessageOrder } from './message.ts';

/** Persisted form. Written with each message, so it has slots by id instead of the tree of the interface. */
export interface KeptStatus {
  /** Alternating slot ids and values. */
  readonly values: readonly SlotValue[];
  /** Alternating slot ids and creation times of their objects in UTC ms. */
  readonly times: readonly number[];
  /** Ids of slots with stale values. */
  readonly stale: readonly number[];
  /** Order of the newest message, and of the newest message that contains a full Status. */
  readonly newest?: MessageOrder | undefined;
  readonly whole?: MessageOrder | undefined;
  /** Progress of the open trip. */
  readonly trip?: TripReport | undefined;
  readonly vehicle?: KeptVehicle | undefined;
}

/** The newest `vehicle` message. */
interface KeptVehicle extends MessageOrder {
  readonly body: VehicleBody;
}

/** Slots of each object. */
const members: readonly (readonly Slot[])[] = statusObjects.map(({ index }) =>
  slots.filter(({ object }) => object === index),
);

/**
 * A full Status replaces everything from older messages. A message that is not the newest, for example after a lost
 * connection, only adds objects that are newer than the known ones, and removes nothing.
 */
export class VehicleStatus {
  #values: (SlotValue | undefined)[] = [];
  #createdAt: Float64Array = emptyTimes();
  #stale: readonly number[] = [];
  #newest: MessageOrder | undefined;
  #whole: MessageOrder | undefined;
  #trip: TripReport | undefined;
  #vehicle: KeptVehicle | undefined;
  /** Cached JSON of the slots of each object. Undefined after they change. */
  #written: (string | undefined)[] = [];

  constructor(kept?: KeptStatus) {
    if (kept === undefined) return;
    this.#read(kept);
    this.#stale = kept.stale;
    this.#newest = kept.newest;
    this.#whole = kept.whole;
    this.#trip = kept.trip;
    this.#vehicle = kept.vehicle;
  }

  copy(): VehicleStatus {
    const copy = new VehicleStatus();
    copy.#values = [...this.#values];
    copy.#createdAt = this.#createdAt.slice();
    copy.#stale = this.#stale;
    copy.#newest = this.#newest;
    copy.#whole = this.#whole;
    copy.#trip = this.#trip;
    copy.#vehicle = this.#vehicle;
    copy.#written = [...this.#written];
    return copy;
  }

  /** Returns {@link KeptStatus} as JSON. */
  write(): string {
    const values: string[] = [];
    const times: number[] = [];
    for (const [object, all] of members.entries()) {
      const written = this.#written[object] ?? this.#writeObject(all);
      this.#written[object] = written;
      if (written !== '') values.push(written);
      const at = this.#createdAt[object] as number;
      const [first] = all;
      if (first !== undefined && !Number.isNaN(at)) times.push(first.id, at);
    }
    const [newest, whole, trip, vehicle] = [this.#newest, this.#whole, this.#trip, this.#vehicle];
    const beside = JSON.stringify({ times, stale: this.#stale, newest, whole, trip, vehicle });
    return `{"values":[${values.join(',')}],${beside.slice(1)}`;
  }

  #writeObject(all: readonly Slot[]): string {
    const values: SlotValue[] = [];
    for (const { id, index } of all) {
      const value = this.#values[index];
      if (value !== undefined) values.push(id, value);
    }
    return JSON.stringify(values).slice(1, -1);
  }

  /** Ids of slots with stale values. */
  get stale(): readonly number[] {
    return this.#stale;
  }

  /** Progress of the trip that was open at the newest message. */
  get openTrip(): TripReport | undefined {
    return this.#trip;
  }

  /** Returns the interface's tree with all objects, or only with those in `objects` (indexes). */
  contents(objects?: ReadonlySet<number>): StatusContents {
    return assemble(this.#values, this.#createdAt, objects);
  }

  /** Description of the car. Undefined if the car has sent none. */
  get vehicle(): VehicleBody | undefined {
    return this.#vehicle?.body;
  }

  accept(message: Message<'status' | 'vehicle'>): void {
    if (message.kind === 'status') {
      this.apply(message.body, message);
      return;
    }
    const { boot, seq, offset, body } = message;
    if (this.#vehicle === undefined || isAfter(message, this.#vehicle)) this.#vehicle = { boot, seq, offset, body };
  }

  apply({ full, status, removed = [], stale = [], trip }: StatusMessage, { boot, seq, offset }: MessageOrder): void {
    const order = { boot, seq, offset };
    if (this.#whole !== undefined && !isAfter(order, this.#whole)) return;
    const isNewest = this.#newest === undefined || isAfter(order, this.#newest);
    if (full) {
      const [values, createdAt] = [this.#values, this.#createdAt];
      this.#values = [];
      this.#createdAt = emptyTimes();
      this.#written = [];
      this.#write(status, () => true);
      if (!isNewest) this.#write(assemble(values, createdAt), (object, at) => at > this.#timeOf(object));
      this.#whole = order;
    } else {
      if (isNewest) this.#remove(removed);
      this.#write(status, (object, at) => isNewest || at > this.#timeOf(object));
    }
    if (!isNewest) return;
    this.#stale = stale;
    const isSame = trip !== undefined && (trip.id ?? this.#trip?.id) === this.#trip?.id;
    this.#trip = isSame && !full ? { ...this.#trip, ...trip } : trip;
    this.#newest = order;
  }

  /** Creation time of the object in UTC ms; negative infinity if the object is unknown. */
  #timeOf(object: number): number {
    const at = this.#createdAt[object] as number;
    return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
  }

  /** Ignores slots that this version does not have. */
  #read({ values, times }: KeptStatus): void {
    for (let at = 0; at < values.length; at += 2) {
      const slot = slotById.get(values[at] as number);
      if (slot !== undefined) this.#values[slot.index] = values[at + 1];
    }
    for (let at = 0; at < times.length; at += 2) {
      const slot = slotById.get(times[at] as number);
      if (slot !== undefined) this.#createdAt[slot.object] = times[at + 1] as number;
    }
  }

  /** Replaces all fields of each object for which `wanted` returns true. */
  #write(contents: StatusContents, wanted: (object: number, at: number) => boolean): void {
    const objects = new Map<number, Disassembled[]>();
    for (const one of disassemble(contents)) {
      const known = objects.get(one.slot.object);
      if (known === undefined) objects.set(one.slot.object, [one]);
      else known.push(one);
    }
    for (const [object, found] of objects) {
      const at = found[0]?.at ?? Number.NaN;
      if (!wanted(object, at)) continue;
      this.#written[object] = undefined;
      for (const { index } of members[object] ?? []) this.#values[index] = undefined;
      for (const { slot, value } of found) this.#values[slot.index] = value;
      this.#createdAt[object] = at;
    }
  }

  /** Removes the slots with these paths, or all slots of objects with these paths. */
  #remove(paths: readonly string[]): void {
    if (paths.length === 0) return;
    for (const { index, path, object } of slots) {
      if (!paths.some((gone) => path === gone || path.startsWith(`${gone}.`))) continue;
      this.#values[index] = undefined;
      this.#written[object] = undefined;
    }
  }
}

function emptyTimes(): Float64Array {
  return new Float64Array(statusObjects.length).fill(Number.NaN);
}
