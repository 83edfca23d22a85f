/**
 * Content of `/vigie/v1/bus` for a running car. Loaded for the first viewer; receives frames only while somebody
 * watches.
 *
 * Frames bypass Status and therefore its privacy filter: this module hides all frames unless the car currently reports
 * that the driver has chosen no privacy. This also applies to a car that was declared stolen.
 */

import { bitsOf, DbcFrameReader, type DbcMessage, MessageFinder, type Signal } from '../adapters/can/dbc/index.ts';
import { changedSince, type FrameEntry, FrameTable, isExtended } from '../adapters/can/frame-table.ts';
import type { BusStreams, FollowedEvents } from '../adapters/http/own-routes.ts';
import type { Status } from '../agent/model/status.ts';
import { type Clock, EXTENDED, type FrameBatch } from '../agent/ports.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { hex } from '../protocol/hex.ts';
import type {
  BusFrames,
  BusIdentifier,
  BusIdentifiers,
  BusPrivacy,
  BusRow,
  BusSignal,
  BusValues,
} from '../protocol/interface/own/bus.ts';
import { slotAt } from '../protocol/slots.ts';
import type { FrameTap } from './frame-tap.ts';
import type { Vehicle } from './vehicle.ts';

const privacy = slotAt('privacy.state');

interface BusFollowerOptions {
  readonly vehicle: Pick<Vehicle, 'databases'> & {
    readonly profile: Pick<Vehicle['profile'], 'sources' | 'constants'>;
  };
  readonly status: Pick<Status, 'value' | 'current'>;
  readonly tap: FrameTap;
  readonly clock: Clock;
}

/** A signal that a stream sends. */
interface FollowedSignal {
  /** Index of the signal in the request. */
  readonly place: number;
  readonly name: string;
}

/** A stream of signal values. */
interface SignalFollower {
  /** Requested signals by bus and identifier (with its EXTENDED bit). */
  readonly wanted: ReadonlyMap<string, readonly FollowedSignal[]>;
  /** By index in the request: newest value of each signal since the previous event. */
  readonly values: Map<number, readonly [at: number, value: number]>;
}

export class BusFollowers implements BusStreams {
  readonly #options: BusFollowerOptions;
  readonly #messages: MessageFinder;
  readonly #table = new FrameTable();
  readonly #signals = new Set<SignalFollower>();
  /** Readers by the list of bus names of a source. */
  readonly #readers = new WeakMap<readonly string[], DbcFrameReader>();
  /** Number of open frame streams. */
  #tables = 0;
  #followed = false;
  /** True if frames could be shown when the previous batch arrived. */
  #shown = false;

  constructor(options: BusFollowerOptions) {
    this.#options = options;
    this.#messages = new MessageFinder(options.vehicle.databases);
  }

  frames(): FollowedEvents {
    const table = this.#table;
    let generation = -1;
    /** Number of identifiers that this stream has sent. */
    let sent = 0;
    let seen = 0;
    const current = (): boolean => this.#privacy().shown && generation === table.generation;
    return {
      events: {
        privacy: () => this.#privacy(),
        identifiers: (): BusIdentifiers | undefined => {
          const anew = generation !== table.generation;
          if (!this.#privacy().shown || (!anew && sent === table.entries.length)) return undefined;
          const from = anew ? 0 : sent;
          if (anew) seen = 0;
          generation = table.generation;
          sent = table.entries.length;
          const identifiers = table.entries.slice(from).map((entry) => this.#describe(entry));
          return { anew, identifiers, ...(table.full ? { left: true } : {}) };
        },
        frames: (): BusFrames | undefined => {
          if (!current() || seen === table.frames) return undefined;
          const frames = table.entries.filter(({ frame }) => frame > seen).map((entry) => rowOf(entry, seen));
          seen = table.frames;
          return { at: this.#options.clock.now(), frames };
        },
      },
      begin: () => {
        this.#tables++;
        this.#listen();
      },
      end: () => {
        this.#tables--;
        this.#listen();
      },
    };
  }

  signals(asked: readonly string[]): FollowedEvents {
    const follower: SignalFollower = { wanted: this.#wanted(asked), values: new Map() };
    return {
      events: {
        privacy: () => this.#privacy(),
        values: (): BusValues | undefined => {
          if (!this.#privacy().shown || follower.values.size === 0) return undefined;
          const values = [...follower.values].map(([signal, [at, value]]) => ({ signal, at, value }));
          follower.values.clear();
          return { values };
        },
      },
      begin: () => {
        this.#signals.add(follower);
        this.#listen();
      },
      end: () => {
        this.#signals.delete(follower);
        this.#listen();
      },
    };
  }

  #listen(): void {
    const { tap } = this.#options;
    if (this.#tables === 0) this.#table.clear();
    const followed = this.#tables > 0 || this.#signals.size > 0;
    if (followed && !this.#followed) this.#shown = this.#privacy().shown;
    this.#followed = followed;
    tap.listener = followed ? (batch, buses) => this.#take(batch, buses) : undefined;
  }

  #take(batch: FrameBatch, buses: readonly string[]): void {
    const before = this.#shown;
    this.#shown = this.#privacy().shown;
    // If the privacy setting changed with this batch, some of its frames were sent before the change.
    if (!this.#shown || !before) {
      this.#forget();
      return;
    }
    if (this.#tables > 0) this.#table.take(batch, buses);
    for (const follower of this.#signals) this.#read(follower, batch, buses);
  }

  #forget(): void {
    if (this.#table.frames > 0) this.#table.clear();
    for (const { values } of this.#signals) values.clear();
  }

  #read({ wanted, values }: SignalFollower, batch: FrameBatch, buses: readonly string[]): void {
    for (let i = 0; i < batch.count; i++) {
      const signals = wanted.get(addressOf(buses[batch.bus[i] as number] ?? '', batch.id[i] as number));
      const read = signals === undefined ? undefined : this.#reader(buses).decode(batch, i);
      for (const { place, name } of read === undefined ? [] : (signals ?? [])) {
        // Integers beyond 2^53 are strings; so are non-finite values, which no plot shows.
        const value = Number(read?.signals[name] ?? Number.NaN);
        if (Number.isFinite(value)) values.set(place, [batch.at[i] as number, value]);
      }
    }
  }

  #reader(buses: readonly string[]): DbcFrameReader {
    let reader = this.#readers.get(buses);
    if (reader === undefined) {
      reader = new DbcFrameReader(this.#options.vehicle.databases, buses, { decimals: true });
      this.#readers.set(buses, reader);
    }
    return reader;
  }

  #privacy(): BusPrivacy {
    const { status, vehicle, clock } = this.#options;
    const state = status.value(privacy);
    const { sources, constants } = vehicle.profile;
    // If the car never sets privacy, there is nothing to hide.
    const chosen =
      state !== undefined || sources.some(({ path }) => path === privacy.path) || privacy.path in constants;
    if (!chosen) return { shown: true };
    if (state !== 'None' && state !== undefined) {
      return { shown: false, reason: `The driver chose ${state} privacy, so the car sends no frames.` };
    }
    if (state === 'None' && status.current(privacy, clock.now())) return { shown: true };
    return { shown: false, reason: 'The car does not say which privacy the driver chose, so it sends no frames.' };
  }

  #describe(entry: FrameEntry): BusIdentifier {
    const { key, bus, id } = entry;
    const message = this.#messages.find(bus, id);
    const extended = isExtended(entry);
    const shown = { key, bus, id: extended ? id - EXTENDED : id, extended };
    if (message === undefined) return { ...shown, signals: [] };
    const { name, senders, cycleTime, comment, signals } = message;
    const [sender] = senders;
    return {
      ...shown,
      message: name,
      ...defined({ sender, every: cycleTime, comment }),
      signals: signals.map(describeSignal),
    };
  }

  /** @throws VigieError `input.malformed` */
  #wanted(asked: readonly string[]): SignalFollower['wanted'] {
    const wanted = new Map<string, FollowedSignal[]>();
    for (const [place, text] of asked.entries()) {
      const [, bus = '', digits = '', name = ''] = /^([^/]+)\/([0-9A-Fa-f]{3}|[0-9A-Fa-f]{8})\/(.+)$/.exec(text) ?? [];
      if (bus === '') throw malformed(`must be bus, identifier and signal, such as body/0A8/Speed, is ${quoted(text)}`);
      const id = Number.parseInt(digits, 16) + (digits.length === 8 ? EXTENDED : 0);
      const message = this.#messages.find(bus, id);
      if (message === undefined)
        throw malformed(`no DBC of the profile has identifier 0x${digits} on bus ${quoted(bus)}`);
      if (!has(message, name)) throw malformed(`message ${message.name} has no signal ${quoted(name)}`);
      const address = addressOf(bus, id);
      wanted.set(address, [...(wanted.get(address) ?? []), { place, name }]);
    }
    return wanted;
  }
}

function addressOf(bus: string, id: number): string {
  return `${id} ${bus}`;
}

function has({ signals }: DbcMessage, name: string): boolean {
  return signals.some((signal) => signal.name === name);
}

function malformed(message: string): VigieError {
  return new VigieError('input.malformed', message, { where: 'signal' });
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function describeSignal(signal: Signal): BusSignal {
  const { name, unit, factor, offset, choices, multiplexor, selection, comment } = signal;
  return {
    name,
    unit,
    bits: bitsOf(signal),
    factor,
    offset,
    ...(choices === undefined ? {} : { choices: [...choices].map(([raw, text]) => ({ raw, name: text })) }),
    ...(multiplexor ? { multiplexor } : {}),
    ...(selection === undefined ? {} : { selectedBy: selection.multiplexor.name }),
    ...defined({ comment }),
  };
}

function rowOf(entry: FrameEntry, seen: number): BusRow {
  const { key, count, period, length, data } = entry;
  return {
    key,
    count,
    ...(period === undefined ? {} : { period: Math.round(period * 10) / 10 }),
    length,
    data: hex(data.subarray(0, length)),
    changed: hex(changedSince(entry, seen)),
  };
}
