/** Content of `/vigie/v1` for a running car. */

import { type DbcMessage, messageNamed, signalNamed } from '../adapters/can/dbc/index.ts';
import type { BenchControls, BusStreams, OwnView } from '../adapters/http/own-routes.ts';
import type { Agent } from '../agent/agent.ts';
import type { LinkDetails } from '../agent/health/health.ts';
import type { Clock } from '../agent/ports.ts';
import { defined } from '../protocol/defined.ts';
import type {
  CarDescription,
  LinkReport,
  ValueDescription,
  ValueSource,
} from '../protocol/interface/own/car-description.ts';
import type { SourceMapping } from '../protocol/profile.ts';
import { type Slot, slots } from '../protocol/slots.ts';
import type { FrameTap } from './frame-tap.ts';
import { ownCommandsOf } from './own-commands.ts';
import { type OutboxNumbers, reportOutbox } from './own-outbox.ts';
import type { Vehicle } from './vehicle.ts';

/** Bits of a DBC identifier that form the CAN identifier, without flags. */
const IDENTIFIER = 0x1fff_ffff;

export interface OwnOptions {
  readonly vin: string;
  readonly vehicle: Vehicle;
  /** Additional data to serve. */
  readonly served?: Pick<CarDescription, 'captures' | 'faults' | 'tiles'>;
  /** Configured name of the car. */
  readonly title?: string | undefined;
  readonly agent: Pick<Agent, 'waiting' | 'status' | 'requests'>;
  /** Passes on received frames. If omitted, clients cannot stream frames. */
  readonly tap?: FrameTap | undefined;
  readonly store: OutboxNumbers;
  /** Controls of a bench. */
  readonly bench?: BenchControls | undefined;
  /** Public key with which browsers subscribe to push messages. If omitted, the car sends none. */
  readonly pushKey?: string | undefined;
  /** True if the car accepts commands. */
  readonly commands: boolean;
  readonly clock: Clock;
  /** The link whose state is reported; without `health`, only `connected` is. */
  readonly link: { readonly connected: boolean; health?(): LinkDetails };
}

export function ownViewOf(options: OwnOptions): OwnView {
  const { store, bench, tap, vehicle, agent, clock, pushKey } = options;
  // Keep the bus view in memory only while a client streams frames.
  let followers: Promise<BusStreams> | undefined;
  const load = async (frames: FrameTap): Promise<BusStreams> => {
    const { BusFollowers } = await import('./bus-view.ts');
    return new BusFollowers({ vehicle, status: agent.status, tap: frames, clock });
  };
  return {
    car: () => describeCar(options),
    link: () => reportLink(options),
    commands: ownCommandsOf(options),
    outbox: () => reportOutbox(store),
    pushKey,
    ...defined({ bench }),
    ...(tap === undefined
      ? {}
      : {
          bus: () => {
            followers ??= load(tap);
            return followers;
          },
        }),
  };
}

function describeCar({
  vin,
  vehicle,
  title,
  bench,
  served,
}: Pick<OwnOptions, 'vin' | 'vehicle' | 'title' | 'bench' | 'served'>): CarDescription {
  const { profile } = vehicle;
  const sources = new Map<string, SourceMapping[]>();
  for (const source of profile.sources) sources.set(source.path, [...(sources.get(source.path) ?? []), source]);
  const describe = (slot: Slot): ValueDescription => ({
    path: slot.path,
    kind: slot.kind,
    ...defined({ unit: slot.unit, resolution: slot.resolution }),
    ...(slot.path in profile.constants ? { constant: true } : {}),
    sources: (sources.get(slot.path) ?? [])
      .sort((a, b) => a.priority - b.priority)
      .map((source) => describeSource(vehicle, source)),
  });
  return {
    vin,
    title: title ?? profile.title ?? profile.name,
    profile: profile.name,
    ...(bench === undefined ? {} : { bench: true }),
    ...served,
    values: slots.map(describe),
  };
}

function describeSource({ profile, databases }: Vehicle, source: SourceMapping): ValueSource {
  const { message, signal, scale, offset, timeout } = source;
  const bus = source.bus ?? profile.buses.find(({ kind }) => kind === 'can')?.name;
  const found = databases
    .filter((one) => one.bus === undefined || one.bus === bus)
    .map(({ database }) => messageNamed(database, message))
    .find((one) => one !== undefined);
  return {
    ...defined({ bus }),
    message,
    signal,
    ...(found === undefined ? {} : describeMessage(found, signal)),
    scale,
    shift: offset,
    ...defined({ staleAfter: timeout }),
  };
}

function describeMessage(message: DbcMessage, signal: string): Partial<ValueSource> {
  const { id, cycleTime, senders } = message;
  const [sender] = senders;
  const found = signalNamed(message, signal);
  return {
    id: id & IDENTIFIER,
    extended: id > IDENTIFIER,
    ...defined({ every: cycleTime, sender }),
    ...(found === undefined
      ? {}
      : {
          bits: {
            start: found.start,
            length: found.length,
            byteOrder: found.byteOrder,
            factor: found.factor,
            offset: found.offset,
          },
        }),
  };
}

function reportLink({ agent, link }: Pick<OwnOptions, 'agent' | 'link'>): LinkReport {
  const { state = link.connected ? 'up' : 'closed', since, downSince, broker, reason } = link.health?.() ?? {};
  return {
    state,
    ...defined({ since, downSince, broker, reason }),
    waiting: agent.waiting,
  };
}
