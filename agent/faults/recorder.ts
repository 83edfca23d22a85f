import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import {
  type FaultRecord,
  type FaultStatus,
  faultGroupOf,
  faultSchema,
  faultStatuses,
} from '../../protocol/schema/fault.ts';
import type { FaultSettings } from '../../protocol/settings.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { Channels } from '../model/channels.ts';
import type { StatusReader } from '../model/status.ts';
import type { Log, RecordStore } from '../ports.ts';
import type { Recorder } from '../recorders/recorder.ts';
import type { Records } from '../records.ts';
import type { FaultReader, UnitFaults } from './reader.ts';

const ignition = slotAt('ignition.type');
const mileage = slotAt('odometer.mileage');
const privacy = slotAt('privacy.state');
/** The alert of the emission lamp. */
export const lampChannel = channelByPath.get('alerts.EngineFault') as Channel;

/** Delay in ms before a silent car is polled again: the interval at which its reader searches for control units. */
const RETRY = 30_000;
/** Maximum number of open codes; a car has some dozens at most. */
const MOST_OPEN = 1_000;
/** Length in characters of a code without failure type. */
const CODE_LENGTH = 5;

export interface FaultParts {
  readonly status: StatusReader;
  /** Receives the state of the emission lamp. Omitted if the profile has another source for that alert. */
  readonly lamp?: Pick<Channels, 'write'> | undefined;
  readonly records: Records;
  readonly log: Log;
}

interface FaultOptions extends FaultSettings {
  /** Descriptions of codes, from the profile. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A caller that waits for a reading. */
interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: VigieError) => void;
}

/** Fault codes as clients read them. */
export interface FaultView {
  /** Returns all stored codes, newest first; `lastSeenAt` of an active code is the time of the last reading. */
  all(): readonly FaultRecord[];
}

/**
 * Records the fault codes of the control units: when a code appears, when its lists change, and when it is gone. The
 * car is polled at the start, when the ignition is switched on, after a sleep, and then at an interval.
 */
export class FaultRecorder implements Recorder {
  readonly name = 'fault';
  readonly watches = [ignition];
  readonly #reader: FaultReader;
  readonly #options: FaultOptions;
  readonly #parts: FaultParts;
  /** Active codes by control unit and code. */
  readonly #open = new Map<string, FaultRecord>();
  readonly #lamps = new Map<string, boolean>();
  #reading = false;
  #result: readonly UnitFaults[] | undefined;
  /** UTC ms. */
  #next = Number.NEGATIVE_INFINITY;
  /** True if the car did not answer the last time, and this was logged. */
  #silent = false;
  #full = false;
  /** Callers that wait for the reading in progress, and those that wait for the next one. */
  #served: Waiting[] = [];
  #waiting: Waiting[] = [];

  constructor(reader: FaultReader, options: FaultOptions, parts: FaultParts) {
    this.#reader = reader;
    this.#options = options;
    this.#parts = parts;
    reader.onUnitsFound(() => this.#readSoon());
  }

  changed(_: Slot, value: SlotValue, previous: SlotValue | undefined): void {
    if (value !== 'Stop' && (previous === undefined || previous === 'Stop')) this.#readSoon();
  }

  stale(slot: Slot, stale: boolean): void {
    // Cars with only OBD never report Stop: the ignition becomes stale instead, and fresh again at the next start.
    if (slot === ignition && !stale) this.#readSoon();
  }

  tick(now: number): void {
    const result = this.#result;
    this.#result = undefined;
    // Full privacy allows no record, so the car is not polled.
    if (this.#isPrivate) {
      this.#refuse(hidden());
      return;
    }
    if (result !== undefined) this.#take(result, Math.round(now));
    // A clock that was set back must not delay the next reading.
    this.#next = Math.min(this.#next, now + this.#options.every);
    if (!this.#reading && now >= this.#next) this.#read(now);
  }

  /** Call when the unit stops or falls asleep. Schedules a reading: when it wakes, the ignition may be on. */
  flush(): void {
    this.#refuse(
      new VigieError('command.interrupted', 'the unit stopped or fell asleep before the fault codes were read'),
    );
    this.#readSoon();
  }

  /**
   * Reads the fault codes now; resolves when the results are recorded.
   * @throws VigieError `command.private` under full privacy, `command.unconfirmed` if no control unit answers
   */
  async readNow(): Promise<void> {
    if (this.#isPrivate) throw hidden();
    this.#readSoon();
    // A reading in progress may have started before the call.
    await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  state(): unknown {
    return { open: [...this.#open.values()] };
  }

  restore(state: unknown): void {
    const { open } = state as { readonly open?: readonly FaultRecord[] };
    if (!Array.isArray(open)) throw new VigieError('input.malformed', 'the stored fault codes are not a list');
    for (const record of open as readonly FaultRecord[]) this.#open.set(keyOf(record.unit, record.code), record);
  }

  correct(by: number, latest: number): void {
    for (const [key, record] of this.#open) this.#open.set(key, shiftInstants(faultSchema, record, by, latest));
    this.#next += by;
  }

  /** Returns a {@link FaultView} of the stored records. */
  view(kept: Pick<RecordStore, 'list'>): FaultView {
    return {
      all: () => {
        const records = new Map<string, FaultRecord>();
        for (const { id, record } of kept.list('fault')) records.set(id, record as FaultRecord);
        for (const record of this.#open.values()) records.set(record.id, record);
        return [...records.values()].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      },
    };
  }

  get #isPrivate(): boolean {
    return this.#parts.status.value(privacy) === 'Full';
  }

  #refuse(error: VigieError): void {
    for (const { reject } of [...this.#served, ...this.#waiting]) reject(error);
    this.#served = [];
    this.#waiting = [];
  }

  #readSoon(): void {
    this.#next = Number.NEGATIVE_INFINITY;
  }

  #read(now: number): void {
    this.#reading = true;
    this.#next = now + RETRY;
    this.#served = this.#waiting;
    this.#waiting = [];
    const known = (unit: string, code: string): boolean => this.#open.has(keyOf(unit, code));
    this.#reader
      .read(known)
      .then(
        (units) => {
          if (units.length === 0) this.#unread('no control unit answers');
          else this.#result = units;
        },
        (error: Error) => {
          if (error instanceof VigieError) this.#unread(error.message);
          else {
            this.#parts.log.error('faults.defect', { error: error.stack });
            this.#unserved('a defect in the reading of fault codes');
          }
        },
      )
      .finally(() => {
        this.#reading = false;
      });
  }

  #unread(why: string): void {
    if (!this.#silent) this.#parts.log.info('faults.unread', { why });
    this.#silent = true;
    this.#unserved(why);
  }

  #unserved(why: string): void {
    for (const { reject } of this.#served) {
      reject(new VigieError('command.unconfirmed', `the fault codes could not be read: ${why}`));
    }
    this.#served = [];
  }

  #take(units: readonly UnitFaults[], at: number): void {
    this.#silent = false;
    // A request during this reading is served by the next one.
    this.#next = this.#waiting.length > 0 ? at : at + this.#options.every;
    for (const unit of units) this.#takeUnit(unit, at);
    for (const { unit, lamp } of units) if (lamp !== undefined) this.#lamps.set(unit, lamp);
    if (this.#lamps.size > 0) this.#parts.lamp?.write(lampChannel, [...this.#lamps.values()].includes(true), at);
    for (const { resolve } of this.#served) resolve();
    this.#served = [];
  }

  #takeUnit(faults: UnitFaults, at: number): void {
    const { unit, lists, uds } = faults;
    const before = [...this.#open.values()]
      .filter((record) => record.unit === unit && hasFailureType(record.code) === (uds !== undefined))
      .map(({ code }) => code);
    for (const code of new Set([...before, ...Object.values(lists).flat()])) {
      const record = this.#open.get(keyOf(unit, code));
      // A list that the unit did not send this time stays unchanged.
      const status = faultStatuses.filter(
        (list) => lists[list]?.includes(code) ?? record?.status.includes(list) ?? false,
      );
      if (record === undefined) this.#begin(faults, code, status, at);
      else if (status.length === 0) this.#end(record, at);
      else this.#continue(record, status, at);
    }
  }

  #begin({ unit, freezeFrame, uds }: UnitFaults, code: string, status: FaultStatus[], at: number): void {
    const { status: present, records, log } = this.#parts;
    if (this.#open.size >= MOST_OPEN) {
      if (!this.#full) log.error('faults.tooMany', { most: MOST_OPEN, unit, code });
      this.#full = true;
      return;
    }
    const odometer = present.value(mileage);
    const { texts } = this.#options;
    const text = texts[code] ?? texts[code.slice(0, CODE_LENGTH)];
    const details = uds?.details.get(code);
    const values = (freezeFrame?.code === code ? freezeFrame.values : details?.freezeFrame) ?? [];
    // Only the maker of the car knows the meaning of these bytes: they may contain a position.
    const { snapshot, extendedData } = present.value(privacy) === 'Geolocation' ? {} : (details ?? {});
    this.#put({
      createdAt: at,
      id: records.newId(at),
      active: true,
      code,
      unit,
      group: faultGroupOf(code),
      status,
      firstSeenAt: at,
      lastSeenAt: at,
      ...(typeof odometer === 'number' ? { odometer } : {}),
      ...defined({ text }),
      ...(values.length === 0 ? {} : { freezeFrame: [...values] }),
      ...(uds?.name === undefined ? {} : { unitName: uds.name }),
      ...defined({ snapshot, extendedData }),
    });
  }

  #continue(record: FaultRecord, status: FaultStatus[], at: number): void {
    const seen = { ...record, lastSeenAt: Math.max(at, record.firstSeenAt) };
    if (status.join() === record.status.join()) this.#open.set(keyOf(record.unit, record.code), seen);
    else this.#put({ ...seen, status, updatedAt: seen.lastSeenAt });
  }

  #end(record: FaultRecord, at: number): void {
    this.#open.delete(keyOf(record.unit, record.code));
    this.#full = false;
    this.#parts.records.put('fault', { ...record, active: false, updatedAt: Math.max(at, record.createdAt) });
  }

  #put(record: FaultRecord): void {
    this.#open.set(keyOf(record.unit, record.code), record);
    this.#parts.records.put('fault', record);
  }
}

function hidden(): VigieError {
  return new VigieError('command.private', 'fault codes are not read under full privacy');
}

/** Returns true for a code that UDS reported. */
function hasFailureType(code: string): boolean {
  return code.length > CODE_LENGTH;
}

function keyOf(unit: string, code: string): string {
  return `${unit} ${code}`;
}
