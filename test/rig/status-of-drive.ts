import { DbcDecoder } from '../../adapters/can/dbc/index.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { Channels } from '../../agent/model/channels.ts';
import { Mapping } from '../../agent/model/mapping.ts';
import { Status } from '../../agent/model/status.ts';
import { loadProfile } from '../../config/profile.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { Waypoint } from '../../protocol/schema/waypoint.ts';
import { assemble, type Slot, type SlotValue, statusObjects } from '../../protocol/slots.ts';
import { codec, database } from '../adapters/simulated/network.ts';
import { VirtualClock } from './clock.ts';

/** Status while the simulated car drives its scripted day, for measurements of message sizes. */
export interface StatusOfDrive {
  /** Full Status, every ten seconds. */
  readonly whole: readonly Message<'status'>[];
  /** Groups of ten values that changed consecutively, from all over the day. */
  readonly tens: readonly Message<'status'>[];
  /** Every ten seconds. */
  readonly points: readonly Waypoint[];
}

interface Change {
  readonly slot: Slot;
  readonly value: SlotValue;
  /** UTC ms. */
  readonly at: number;
}

/** @param start start of the day, UTC ms */
export async function statusOfDrive(start: number): Promise<StatusOfDrive> {
  const { profile } = loadProfile('bench', { shipped: new URL('../../config/vehicles', import.meta.url).pathname });
  if (profile === undefined) throw new Error('the profile of the bench cannot be used');
  const status = new Status();
  const mapping = new Mapping(status, new Channels(), profile);
  const clock = new VirtualClock(start);
  const car = new SimulatedCar({ clock, codec, seed: 20 });
  const decoder = new DbcDecoder(mapping.wanted, [{ bus: 'body', database }], car.buses);
  const changes: Change[] = [];
  const whole: Message<'status'>[] = [];
  const points: Waypoint[] = [];
  status.observe({ changed: (slot, value, _, at) => changes.push({ slot, value, at: Math.round(at) }) });
  await car.start((batch) => decoder.decode(batch, mapping));
  for (let at = 0; at < car.period; at += 10_000) {
    clock.advance(10_000);
    const contents = status.contents();
    whole.push(message({ full: true, status: contents }, clock.now()));
    const { geometry, properties } = contents.lastPosition ?? {};
    if (geometry === undefined || properties?.type === undefined) continue;
    const [longitude, latitude, altitude = 0] = geometry.coordinates;
    const { heading = 0, type } = properties;
    const speed = contents.kinetic?.speed ?? 0;
    points.push({ at: clock.now(), latitude, longitude, altitude, heading, speed, type, fixStatus: '3D' });
  }
  await car.stop();
  return { whole, tens: tensOf(changes), points };
}

function tensOf(changes: readonly Change[]): Message<'status'>[] {
  const tens: Message<'status'>[] = [];
  for (let from = 0; from + 40 < changes.length; from += 137) {
    const latest = new Map<Slot, Change>();
    for (const change of changes.slice(from)) if (latest.size < 10) latest.set(change.slot, change);
    const values: SlotValue[] = [];
    const createdAt: number[] = Array(statusObjects.length).fill(Number.NaN);
    let at = 0;
    for (const change of latest.values()) {
      values[change.slot.index] = change.value;
      createdAt[change.slot.object] = change.at;
      at = Math.max(at, change.at + 1000);
    }
    tens.push(message({ full: false, status: assemble(values, createdAt) }, at));
  }
  return tens;
}

function message(body: Message<'status'>['body'], at: number): Message<'status'> {
  return { version: 1, kind: 'status', seq: 70_000, boot: 300, at, clock: 'gnss', body };
}
