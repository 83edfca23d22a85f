import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RecordKind } from '../../protocol/schema/kind.ts';
import type { Body } from '../../protocol/schema/message.ts';
import { noSignals, type SignalRules } from '../../protocol/schema/monitor/signals.ts';
import {
  type CompiledMonitor,
  compileMonitor,
  MONITORS,
  type Monitor,
  type MonitorList,
  type MonitorParameter,
  type MonitorStatus,
  monitorIdPattern,
} from '../../protocol/schema/monitor.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { Log, Memory } from '../ports.ts';
import type { OpenTripReader, Recorder } from '../recorders/recorder.ts';
import type { RecordObserver } from '../records.ts';
import { MonitorContext } from './context.ts';
import type { MonitorSignals } from './custom-signals.ts';
import { Evaluator } from './evaluator.ts';
import { extensionsOf, triggersOf, valuesOf } from './event-content.ts';
import { Facts } from './facts.ts';
import { PreviousStatus } from './previous-status.ts';
import { recordTriggersOf, watchedByKind } from './record-triggers.ts';
import type { RunningMonitor } from './running.ts';
import { type CustomSignalParts, Sources } from './sources.ts';
import { kept, readKept } from './state.ts';

const HEAD = 'monitors';
const RECORDS = 'monitors/records';
const CONTEXT = 'monitors/context';
const keyOf = (id: string): string => `monitor/${id}`;
const standingKeyOf = (id: string): string => `monitor/${id}/now`;

interface MonitorsParts {
  readonly status: StatusReader;
  readonly trips: OpenTripReader;
  /** Omitted if the profile has no custom signals. */
  readonly signals?: MonitorSignals;
  /** Receives an event. Store it in the same commit as the states. */
  readonly emit: (event: MonitorEvent) => void;
  readonly log: Log;
}

interface Entry {
  monitor: Monitor;
  readonly order: number;
  compiled: CompiledMonitor;
  /** Undefined while paused. */
  running: RunningMonitor | undefined;
}

interface Head {
  readonly version: number;
  /** Number of events and of monitors so far. */
  readonly events: number;
  readonly given: number;
  readonly ids: readonly string[];
}

/**
 * The monitors of the car: adds them, evaluates them and publishes their events (docs/monitors.md). Its state has many
 * keys, so it uses {@link states} and {@link recall} instead of a recorder's `state`.
 */
export class Monitors implements Recorder, RecordObserver {
  readonly name = HEAD;
  readonly #parts: MonitorsParts;
  readonly #status: PreviousStatus;
  readonly #facts: Facts;
  readonly #sources: Sources;
  readonly #evaluator: Evaluator;
  readonly #context = new MonitorContext();
  readonly #entries = new Map<string, Entry>();
  #version = 0;
  #events = 0;
  #given = 0;
  /** The alert that ends in the present step. */
  #ended: Alert | undefined;
  /** Changed state, for the next commit. */
  #headChanged = false;
  readonly #changed = new Set<string>();
  readonly #standing = new Set<string>();

  constructor(parts: MonitorsParts) {
    const status = new PreviousStatus(parts.status);
    this.#parts = parts;
    this.#status = status;
    this.#facts = new Facts(status);
    const { signals } = parts;
    const heard: CustomSignalParts['heard'] = (source, at) => this.#evaluator.heard(source, at);
    this.#sources = new Sources(status, this.#facts, signals === undefined ? undefined : { signals, heard });
    this.#evaluator = new Evaluator({
      status,
      sources: this.#sources,
      tell: (monitor, refresh) => this.#tell(monitor, refresh),
      changed: ({ id }) => this.#standing.add(id),
    });
  }

  /** Version of the list; grows with each change. */
  get version(): number {
    return this.#version;
  }

  /** Custom signals that monitors may refer to. */
  get signals(): SignalRules {
    return this.#parts.signals ?? noSignals;
  }

  /** Monitors in the order in which they were added. */
  get all(): readonly Monitor[] {
    return [...this.#entries.values()].map(({ monitor }) => monitor);
  }

  /** The list of monitors for a `monitor` message. */
  get list(): MonitorList {
    const monitors = this.all.map(({ monitorId, status, updatedAt, revision }) => ({
      monitorId,
      status,
      updatedAt,
      ...defined({ revision }),
    }));
    return { version: this.#version, monitors };
  }

  get(id: string): Monitor | undefined {
    return this.#entries.get(id)?.monitor;
  }

  /**
   * Adds a monitor and starts it. Replaces the monitor with this id, and continues from its state if triggers and
   * expression are the same. `at` is the current time, UTC ms; `revision` is reported with the list.
   * @throws VigieError `input.malformed`, `input.unknown` if compileMonitor refuses the input or there are too many
   */
  put(id: string, input: unknown, at: number, status?: MonitorStatus, revision?: string): Monitor {
    if (!new RegExp(monitorIdPattern).test(id)) {
      throw new VigieError('input.malformed', `must match ${monitorIdPattern}`, { where: 'monitorId' });
    }
    const compiled = compileMonitor(input, this.signals);
    const before = this.#entries.get(id);
    if (before === undefined && this.#entries.size >= MONITORS) {
      throw new VigieError('input.malformed', `there are ${MONITORS} monitors already: remove one`, {
        where: 'monitors',
      });
    }
    this.#evaluator.arrive(at);
    const now = Math.round(at);
    const monitor: Monitor = {
      createdAt: before?.monitor.createdAt ?? now,
      monitorId: id,
      updatedAt: now,
      status: status ?? before?.monitor.status ?? 'Running',
      monitor: compiled.parameter,
      ...defined({ revision }),
    };
    if (before !== undefined && sameMonitor(before.monitor, monitor)) return before.monitor;
    const entry: Entry = { monitor, order: before?.order ?? this.#given++, compiled, running: before?.running };
    this.#entries.set(id, entry);
    this.#note(id);
    if (entry.running !== undefined && monitor.status === 'Running' && sameTriggers(before?.compiled, compiled)) {
      this.#evaluator.replace(entry.running, compiled);
    } else this.#restart(entry);
    this.#context.keep(this.#asksForContext());
    return monitor;
  }

  /** Pauses a monitor, or restarts it without its earlier state. @throws VigieError `input.unknown` */
  setStatus(id: string, status: MonitorStatus, at: number): Monitor {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new VigieError('input.unknown', `there is no monitor ${id}`, { where: 'monitorId' });
    this.#evaluator.arrive(at);
    if (entry.monitor.status === status) return entry.monitor;
    // The monitor no longer equals the version that the sender of the revision defined.
    const { revision: _, ...monitor } = entry.monitor;
    entry.monitor = { ...monitor, status, updatedAt: Math.round(at) };
    this.#note(id);
    this.#restart(entry);
    this.#context.keep(this.#asksForContext());
    return entry.monitor;
  }

  /** Removes a monitor. Returns false if there is no monitor with this id. */
  remove(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    if (entry.running !== undefined) this.#evaluator.end(entry.running);
    this.#entries.delete(id);
    this.#note(id);
    this.#standing.add(id);
    this.#context.keep(this.#asksForContext());
    return true;
  }

  changed(slot: Slot, value: SlotValue, previous: SlotValue | undefined, at: number): void {
    this.#context.ring?.take(slot, value, at);
    this.#evaluator.changed(slot, previous, at);
  }

  removed(slot: Slot, previous: SlotValue, at: number): void {
    this.#context.ring?.forget(slot);
    this.#evaluator.removed(slot, previous, at);
  }

  recorded<K extends RecordKind>(kind: K, record: Body<K>, previous: Body<K> | undefined): void {
    const { createdAt, updatedAt } = record as { createdAt: number; updatedAt?: number };
    this.#evaluator.arrive(updatedAt ?? createdAt);
    const change = (): void => {
      // Triggers that are evaluated before this change must not see the end of the alert.
      if (kind === 'alert') this.#ended = this.#facts.ending(record as Alert);
      this.#facts.note(kind, record, previous);
    };
    this.#evaluator.recorded(watchedByKind(kind), change, recordTriggersOf(kind, record, previous));
    this.#ended = undefined;
  }

  tick(now: number): void {
    this.#evaluator.tick(now);
    for (const event of this.#context.tick(this.#evaluator.now)) this.#parts.emit(event);
    this.#context.keep(this.#asksForContext());
  }

  flush(): void {}

  correct(by: number): void {
    this.#evaluator.correct(by);
    this.#context.correct(by);
  }

  /** Returns the state that changed since the last call, for the same commit as the events. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    if (this.#headChanged) {
      this.#headChanged = false;
      const { version, events, given } = { version: this.#version, events: this.#events, given: this.#given };
      yield [HEAD, { version, events, given, ids: [...this.#entries.keys()] } satisfies Head];
    }
    if (this.#facts.changed) {
      this.#facts.changed = false;
      yield [RECORDS, this.#facts.state()];
    }
    if (this.#context.altered) {
      this.#context.altered = false;
      yield [CONTEXT, this.#context.state()];
    }
    for (const id of this.#changed) {
      const entry = this.#entries.get(id);
      yield [keyOf(id), entry === undefined ? undefined : { monitor: entry.monitor, order: entry.order }];
    }
    this.#changed.clear();
    for (const id of this.#standing) {
      const running = this.#entries.get(id)?.running;
      yield [standingKeyOf(id), running === undefined ? undefined : kept(running)];
    }
    this.#standing.clear();
  }

  /**
   * Restores the state of the previous run, after Status was restored; `at` is the current time, UTC ms. An unreadable
   * monitor is omitted; a monitor without a readable state starts from the beginning. The log reports both.
   */
  recall(memory: Memory, at: number): void {
    this.#attempt(RECORDS, memory, (state) => this.#facts.restore(state));
    this.#attempt(CONTEXT, memory, (state) => this.#context.restore(state));
    this.#attempt(HEAD, memory, (state) => {
      const { version, events, given, ids } = state as Head;
      this.#version = version;
      this.#events = events;
      this.#given = given;
      for (const id of ids) this.#attempt(keyOf(id), memory, (found) => this.#recallOne(found, memory, at));
    });
    this.#context.keep(this.#asksForContext());
  }

  #recallOne(found: unknown, memory: Memory, at: number): void {
    const { monitor, order } = found as Pick<Entry, 'monitor' | 'order'>;
    const id = monitor.monitorId;
    const compiled = this.#compileKept(id, monitor.monitor);
    const entry: Entry = { monitor, order, compiled, running: undefined };
    this.#entries.set(id, entry);
    if (monitor.status !== 'Running') return;
    this.#attempt(standingKeyOf(id), memory, (state) => {
      entry.running = this.#evaluator.begin(id, order, compiled, readKept(state, compiled.triggers.length));
    });
    if (entry.running !== undefined) return;
    this.#evaluator.arrive(at);
    this.#restart(entry);
  }

  /** Another profile may lack a monitor's custom signals. Such a monitor stays: the previous profile may return. */
  #compileKept(id: string, parameter: MonitorParameter): CompiledMonitor {
    try {
      return compileMonitor(parameter, this.signals);
    } catch (error) {
      const compiled = compileMonitor(parameter);
      const { message } = error as Error;
      this.#parts.log.warn('monitors.signals', { id, error: message });
      return compiled;
    }
  }

  #attempt(key: string, memory: Memory, take: (state: unknown) => void): void {
    const state = memory.recall(key);
    if (state === undefined) return;
    try {
      take(state);
    } catch (error) {
      this.#parts.log.error('monitors.unreadable', { key, error: (error as Error).message });
    }
  }

  /** Restarts or stops the evaluation of the monitor. */
  #restart(entry: Entry): void {
    const { monitor, order, compiled } = entry;
    const id = monitor.monitorId;
    if (entry.running !== undefined) this.#evaluator.end(entry.running);
    entry.running = undefined;
    this.#standing.add(id);
    // The first event needs the context.
    this.#context.keep(this.#asksForContext());
    if (monitor.status === 'Running') entry.running = this.#evaluator.begin(id, order, compiled, undefined);
  }

  #note(id: string): void {
    this.#version++;
    this.#headChanged = true;
    this.#changed.add(id);
  }

  #asksForContext(): boolean {
    for (const { monitor, compiled } of this.#entries.values()) {
      const { before, after } = compiled.context;
      if (before + after > 0 && monitor.status === 'Running') return true;
    }
    return false;
  }

  #tell(monitor: RunningMonitor, refresh: boolean): void {
    const { occurring, now } = this.#evaluator;
    const collision = occurring.has('vehicle.collision.side') || occurring.has('vehicle.collision.severity');
    if (collision && !this.#tellsCollision(monitor)) return;
    const at = Math.round(now);
    this.#events++;
    this.#headChanged = true;
    const { trips } = this.#parts;
    const parts = { status: this.#status, sources: this.#sources, facts: this.#facts, trips, now: at };
    const triggers = triggersOf(monitor);
    const values = valuesOf(monitor, parts, { values: occurring, ended: this.#ended });
    const extensions = extensionsOf(monitor, parts);
    const telemetry = this.#context.before(at, monitor.compiled.context.before);
    const event: MonitorEvent = {
      id: `${Math.max(0, at).toString(16)}-${this.#events.toString(16)}`,
      monitorId: monitor.id,
      at,
      refresh,
      ...(triggers.length === 0 ? {} : { triggers }),
      ...(values.length === 0 ? {} : { values }),
      ...(extensions.length === 0 ? {} : { extensions }),
      ...defined({ telemetry }),
    };
    this.#context.expect(event, monitor.compiled.context.after);
    this.#parts.emit(event);
  }

  /** A monitor of collisions sends one event for each collision, even if later records of it have more data. */
  #tellsCollision(monitor: RunningMonitor): boolean {
    const watches = monitor.triggers.some(
      ({ compiled: { condition } }) => condition.kind === 'data' && condition.data.startsWith('vehicle.collision.'),
    );
    const id = this.#facts.newest('collision')?.id;
    if (!watches || id === undefined) return true;
    if (monitor.collision === id) return false;
    monitor.collision = id;
    return true;
  }
}

function sameTriggers(before: CompiledMonitor | undefined, after: CompiledMonitor): boolean {
  return JSON.stringify(before?.parameter.triggerParam) === JSON.stringify(after.parameter.triggerParam);
}

/** Returns true if the two monitors differ at most in the time of their change. */
function sameMonitor(before: Monitor, after: Monitor): boolean {
  if (before.status !== after.status || before.revision !== after.revision) return false;
  return JSON.stringify(before.monitor) === JSON.stringify(after.monitor);
}
