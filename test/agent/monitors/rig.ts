/** Monitors with the real Status, privacy as in the mapping, restarts, and a log of their inputs. */

import { hiddenFrom } from '../../../agent/model/privacy.ts';
import { Status } from '../../../agent/model/status.ts';
import { Monitors } from '../../../agent/monitors/monitors.ts';
import { Signals } from '../../../agent/signals/signals.ts';
import { WatchedSignals } from '../../../agent/signals/watch.ts';
import type { LogEvent } from '../../../protocol/log-events.ts';
import type { CustomSignal } from '../../../protocol/profile.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import type { Body } from '../../../protocol/schema/message.ts';
import { compileMonitor } from '../../../protocol/schema/monitor.ts';
import { type Slot, type SlotValue, slotByPath, slots, statusObjects } from '../../../protocol/slots.ts';
import { KeptMemory } from '../../rig/keeping.ts';
import type { Input } from './reference-world.ts';
import { encodeMessageBody } from './wire.ts';

const levels: Readonly<Record<string, number>> = { None: 0, Geolocation: 1, Full: 2 };
const slot = (path: string): Slot => slotByPath.get(path) as Slot;

/** Raw value that means "not available". */
const NOT_AVAILABLE = 255;

const custom = (name: string, more: Partial<CustomSignal>): CustomSignal => ({
  name,
  message: 'M',
  signal: name,
  kind: 'quantity',
  raw: false,
  scale: 1,
  shift: 0,
  position: false,
  invalid: [NOT_AVAILABLE],
  rule: { interval: 0, deadBand: 0, heartbeat: 60_000 },
  ...more,
});
const modes = [
  { count: 0, name: 'Eco' },
  { count: 1, name: 'Sport' },
];

export const customSignals: readonly CustomSignal[] = [
  custom('Cell.Max', { resolution: 0.5, unit: 'V' }),
  custom('Where.Location.X', { resolution: 0.5, position: true }),
  custom('Fan.On', { kind: 'flag' }),
  custom('Mode', { kind: 'enumeration', raw: true, names: modes }),
];

/** Value that a trigger compares. For flags and enumerations the physical value is the raw one. */
function comparedValue({ kind, names = [] }: CustomSignal, physical: number): number | string {
  if (kind === 'quantity') return Math.round(physical * 2) / 2;
  if (kind === 'flag') return physical === 0 ? 'false' : 'true';
  return names.find(({ count }) => count === physical)?.name ?? `${physical}`;
}

type Kind = Extract<Input, { do: 'record' }>['kind'];

export class MonitorRig {
  status = new Status();
  monitors: Monitors;
  /** All events so far, encoded and decoded like at a receiver. */
  readonly events: MonitorEvent[] = [];
  readonly history: Input[] = [];
  readonly faults: string[] = [];
  readonly memory = new KeptMemory();
  readonly #records = new Map<string, Body<Kind>>();
  readonly #said = new Map<string, number | string | undefined>();
  /** Custom signals. Their values are unknown after a restart. */
  #signals = new Signals(customSignals, () => this.#level);

  constructor() {
    this.monitors = this.#start();
  }

  /** Sets a signal of the car, unless privacy hides it. */
  give(path: string, value: SlotValue, at: number): void {
    if (path === 'privacy.state') this.#hide(levels[value as string] ?? 0, at);
    if (hiddenFrom(path) > this.#level) this.status.write(slot(path), value, at);
  }

  /** Sets a custom signal of the car. Undefined: the car reports that it has no value. */
  signal(name: string, physical: number | undefined, at: number): void {
    const place = customSignals.findIndex((signal) => signal.name === name);
    const definition = customSignals[place] as CustomSignal;
    const value = physical === undefined ? undefined : comparedValue(definition, physical);
    if (value === this.#said.get(name)) return;
    this.#said.set(name, value);
    this.history.push({ do: 'signal', name, value, at });
    this.#signals.reading(place, physical ?? 0, physical ?? NOT_AVAILABLE, at);
  }

  locate(latitude: number, longitude: number, at: number, type = 'Acquire', fix = '3D'): void {
    this.give('lastPosition.latitude', latitude, at);
    this.give('lastPosition.longitude', longitude, at);
    this.give('lastPosition.type', type, at);
    this.give('lastPosition.fixStatus', fix, at);
  }

  record<K extends Kind>(kind: K, record: Body<K>): void {
    const id = `${kind}/${(record as { id: string }).id}`;
    const previous = this.#records.get(id) as Body<K> | undefined;
    this.#records.set(id, record);
    this.history.push({ do: 'record', kind, record, previous });
    this.monitors.recorded(kind, record, previous);
  }

  tick(at: number): void {
    this.history.push({ do: 'tick', at });
    this.monitors.tick(at);
  }

  put(id: string, input: unknown, at: number): void {
    this.history.push({ do: 'put', id, parameter: compileMonitor(input).parameter, at });
    this.monitors.put(id, input, at);
  }

  set(id: string, status: 'Running' | 'Paused', at: number): void {
    if (this.monitors.get(id) === undefined) return;
    this.history.push({ do: 'status', id, status, at });
    this.monitors.setStatus(id, status, at);
  }

  remove(id: string): void {
    this.history.push({ do: 'remove', id });
    this.monitors.remove(id);
  }

  correct(by: number): void {
    this.history.push({ do: 'correct', by });
    this.monitors.correct(by);
  }

  /** A power cut after a commit, and a new start. */
  restart(at: number): void {
    this.history.push({ do: 'restart' });
    this.memory.commit();
    const before = this.status;
    this.status = new Status();
    this.#signals = new Signals(customSignals, () => this.#level);
    this.#said.clear();
    for (const { index } of statusObjects) this.status.restore(before.contents(new Set([index])));
    this.monitors = this.#start();
    this.monitors.recall(this.memory, at);
  }

  get #level(): number {
    return levels[String(this.status.value(slot('privacy.state')))] ?? 0;
  }

  #hide(level: number, at: number): void {
    if (level <= this.#level) return;
    for (const hidden of slots) if (hiddenFrom(hidden.path) <= level) this.status.remove(hidden, at);
  }

  #start(): Monitors {
    const { status } = this;
    const error = (event: LogEvent, fields?: Record<string, unknown>): void => {
      this.faults.push(`${event} ${JSON.stringify(fields)}`);
    };
    const log = { info: () => undefined, warn: error, error };
    const monitors = new Monitors({
      status,
      trips: { present: () => undefined },
      signals: new WatchedSignals(customSignals, this.#signals),
      log,
      emit: (event) => this.events.push(encodeMessageBody(event)),
    });
    this.memory.keep(() => monitors.states());
    status.observe({
      changed: (changed, value, previous, at) => {
        this.history.push({ do: 'changed', path: changed.path, value, previous, at });
        monitors.changed(changed, value, previous, at);
      },
      removed: (removed, previous, at) => {
        this.history.push({ do: 'removed', path: removed.path, at });
        monitors.removed(removed, previous, at);
      },
    });
    return monitors;
  }
}
