import type { CompiledMonitor } from '../../protocol/schema/monitor/compile.ts';
import type { TriggerData } from '../../protocol/schema/monitor/data.ts';
import { FALSE, judge, TRUE, type Truth, UNKNOWN } from '../../protocol/schema/monitor/expression.ts';
import type { Slot, SlotValue } from '../../protocol/slots.ts';
import { look } from './calendar.ts';
import type { WatchedSignal } from './custom-signals.ts';
import type { PreviousStatus } from './previous-status.ts';
import {
  among,
  type Boundary,
  levelOf,
  type RunningMonitor,
  type RunningTrigger,
  rawOf,
  type SourceName,
  type SourceValue,
  sideOf,
  type TriggerSource,
  usedOf,
} from './running.ts';
import { literal, type Sources, sameValue } from './sources.ts';
import { type KeptMonitor, type KeptTrigger, monitorFrom } from './state.ts';
import { TimerQueue } from './timer-queue.ts';

/** Time in ms by which a tick may be earlier than the last input. If it is still earlier, the clock was set back. */
const STEP = 1_000;

interface EvaluatorParts {
  readonly status: PreviousStatus;
  readonly sources: Sources;
  /** Emits an event of the monitor. */
  readonly tell: (monitor: RunningMonitor, refresh: boolean) => void;
  /** Called when the state of the monitor has changed. */
  readonly changed: (monitor: RunningMonitor) => void;
}

type Item = RunningTrigger | Boundary | RunningMonitor;

/** Evaluates running monitors step by step; docs/monitors.md, "A step". */
export class Evaluator {
  readonly #parts: EvaluatorParts;
  readonly #timers = new TimerQueue<Item>();
  #touched: RunningMonitor[] = [];
  /** Triggers that occur in this step. */
  #occurring: RunningTrigger[] = [];
  /** True until the first tick: the restored state may be old. */
  #anew = true;
  /** Time of the car, UTC ms. */
  now: number = Number.NEGATIVE_INFINITY;
  /** Occurrences of this step, by data name. */
  readonly occurring = new Map<TriggerData, SourceValue>();

  constructor(parts: EvaluatorParts) {
    this.#parts = parts;
  }

  /** Advances the time of the car to that of an input, if it is later. */
  arrive(at: number): void {
    if (at > this.now) this.now = at;
  }

  /** Starts a monitor from its stored state or, if there is none, anew. A new monitor can emit an event at once. */
  begin(id: string, order: number, compiled: CompiledMonitor, kept: KeptMonitor | undefined): RunningMonitor {
    const monitor = monitorFrom(id, order, compiled, kept, (name, trigger) => this.#parts.sources.watch(name, trigger));
    for (const trigger of monitor.triggers) this.#start(trigger, kept?.triggers[trigger.bit]);
    if (kept === undefined) {
      this.#parts.changed(monitor);
      this.#touch(monitor);
      this.#judgeAll();
    } else if (kept.due !== undefined && compiled.refresh !== undefined) this.#timers.set(monitor, kept.due);
    return monitor;
  }

  end(monitor: RunningMonitor): void {
    this.#timers.remove(monitor);
    for (const trigger of monitor.triggers) {
      this.#timers.remove(trigger);
      if (trigger.boundary !== undefined) this.#timers.remove(trigger.boundary);
      this.#parts.sources.unwatch(trigger.source, trigger);
    }
  }

  /** Replaces a monitor by one with the same triggers and the same expression. */
  replace(monitor: RunningMonitor, compiled: CompiledMonitor): void {
    monitor.compiled = compiled;
    if (compiled.refresh === undefined) this.#timers.remove(monitor);
    this.#parts.changed(monitor);
  }

  /** Call when a slot has another value; `previous` is undefined if it had none. */
  changed(slot: Slot, previous: SlotValue | undefined, at: number): void {
    this.arrive(at);
    const sources = this.#parts.sources.bySlot[slot.index];
    if (sources === undefined) return;
    this.#endWaitsBefore(slot, previous, (source) => !source.deferred);
    for (const source of sources) {
      if (source.deferred) source.dirty = true;
      else this.#look(source, previous !== undefined);
    }
    this.#settle();
  }

  /** Call when a slot no longer has a value. */
  removed(slot: Slot, previous: SlotValue, at: number): void {
    this.arrive(at);
    const sources = this.#parts.sources.bySlot[slot.index];
    if (sources === undefined) return;
    this.#endWaitsBefore(slot, previous, ({ single }) => single);
    for (const source of sources) {
      if (source.single) this.#look(source, true);
      else {
        source.dirty = true;
        source.last = undefined;
      }
    }
    this.#settle();
  }

  /** Call when a custom signal has another value, or no longer has one. */
  heard(source: TriggerSource, at: number): void {
    this.arrive(at);
    if (this.#timers.next <= this.now && this.#endWaits(source)) {
      source.before = true;
      this.#settle();
      source.before = false;
    }
    this.#look(source, true);
    this.#settle();
  }

  /** Applies `change` to the records, reads the watched values again, and reports `occurrences`. */
  recorded(names: readonly SourceName[], change: () => void, occurrences: ReadonlyMap<TriggerData, SourceValue>): void {
    const { sources } = this.#parts;
    const watched = names.map((name) => sources.watched(name)).filter((source) => source !== undefined);
    for (const source of watched) this.#endWaits(source);
    this.#settle();
    change();
    for (const source of watched) this.#look(source, true);
    for (const [name, value] of occurrences) {
      this.occurring.set(name, value);
      for (const trigger of sources.watched(name)?.triggers ?? []) this.#happen(trigger, value);
    }
    this.#settle();
  }

  tick(now: number): void {
    if (this.#anew || now < this.now - STEP) this.#setBack(now);
    else this.arrive(now);
    const refreshes: RunningMonitor[] = [];
    for (let item = this.#timers.take(this.now); item !== undefined; item = this.#timers.take(this.now)) {
      if (item.kind === 'refresh') refreshes.push(item);
      else if (item.kind === 'wait') this.#assign(item, TRUE);
      else this.#lookAtTime(item);
    }
    this.#settle();
    for (const monitor of inOrder(refreshes)) this.#refresh(monitor);
    for (const source of this.#parts.sources.all) {
      if (source.signal !== undefined) this.#heedPrivacy(source, source.signal);
      if (source.dirty) this.#look(source, true);
    }
    this.#settle();
  }

  /** Checks whether privacy hid or showed the signal since the last tick: a silent signal triggers no other check. */
  #heedPrivacy(source: TriggerSource, signal: WatchedSignal): void {
    const obscured = signal.hidden();
    if (obscured !== source.obscured || !sameValue(signal.read(), source.last)) source.dirty = true;
    source.obscured = obscured;
  }

  /** Shifts stored times by `by` ms after a clock correction; the next tick evaluates intervals. */
  correct(by: number): void {
    this.now += by;
    this.#timers.move((item) =>
      item.kind === 'boundary' ? Number.NEGATIVE_INFINITY : this.#note(item, item.due + by),
    );
  }

  #setBack(now: number): void {
    this.#anew = false;
    this.now = now;
    this.#timers.move((item) => {
      if (item.kind === 'boundary') return Number.NEGATIVE_INFINITY;
      const span = item.kind === 'wait' ? item.compiled.holdFor : (item.compiled.refresh ?? 0);
      return this.#note(item, Math.min(item.due, now + span));
    });
  }

  #note(item: RunningTrigger | RunningMonitor, due: number): number {
    if (due !== item.due) this.#parts.changed(item.kind === 'wait' ? item.monitor : item);
    return due;
  }

  #start(trigger: RunningTrigger, kept: KeptTrigger | undefined): void {
    if (kept === undefined) {
      this.#lookAtFirst(trigger);
      return;
    }
    if (kept.due !== undefined) this.#timers.set(trigger, kept.due);
    if (trigger.boundary !== undefined) this.#timers.set(trigger.boundary, Number.NEGATIVE_INFINITY);
    // Evaluations that the previous run deferred were not stored.
    if (!trigger.source.single) trigger.source.dirty = true;
  }

  #lookAtFirst(trigger: RunningTrigger): void {
    const { condition } = trigger.compiled;
    const value = trigger.source.read();
    if (condition.kind === 'data') {
      if (condition.occurrence) return;
      trigger.main = levelOf(condition, value, UNKNOWN);
    } else if (condition.kind === 'zone') trigger.main = sideOf(condition, this.#parts.status, UNKNOWN);
    else {
      trigger.used = usedOf(value);
      this.#lookAtTime(trigger.boundary as Boundary);
      return;
    }
    this.#consider(trigger);
  }

  #lookAtTime(boundary: Boundary): void {
    const { trigger } = boundary;
    const { condition } = trigger.compiled;
    if (condition.kind !== 'time') return;
    const { inside, next } = look(condition.schedule, this.now);
    this.#timers.set(boundary, next);
    const main = inside ? TRUE : FALSE;
    if (main !== trigger.main) this.#parts.changed(trigger.monitor);
    trigger.main = main;
    this.#consider(trigger);
  }

  /** Ends due waits before a change of the slot is applied; their events contain the previous value. */
  #endWaitsBefore(slot: Slot, previous: SlotValue | undefined, counts: (source: TriggerSource) => boolean): void {
    if (this.#timers.next > this.now) return;
    let ended = false;
    for (const source of this.#parts.sources.bySlot[slot.index] ?? []) {
      if (counts(source) && this.#endWaits(source)) ended = true;
    }
    if (ended) this.#parts.status.before(slot, previous, () => this.#settle());
  }

  /** Ends the waits that were due before the present input. Returns true if there were any. */
  #endWaits({ triggers }: TriggerSource): boolean {
    let ended = false;
    for (const trigger of triggers) {
      if (trigger.place < 0 || trigger.due > this.now) continue;
      this.#timers.remove(trigger);
      this.#assign(trigger, TRUE);
      ended = true;
    }
    return ended;
  }

  #look(source: TriggerSource, heardBefore: boolean): void {
    const value = source.read();
    const old = source.last;
    if (!source.dirty && sameValue(value, old)) return;
    source.last = value;
    const moved = typeof value === 'number' && typeof old === 'number' && !source.dirty && !source.anew;
    source.dirty = false;
    for (const trigger of moved ? source.thresholds.cross(value) : source.triggers) {
      this.#apply(trigger, value, old, heardBefore);
    }
    if (moved || typeof value !== 'number') return;
    source.anew = false;
    source.thresholds.stand(value);
  }

  #apply(
    trigger: RunningTrigger,
    value: SourceValue | undefined,
    old: SourceValue | undefined,
    heardBefore: boolean,
  ): void {
    const { condition } = trigger.compiled;
    if (condition.kind === 'data') {
      if (condition.occurrence) {
        if (value !== undefined && old !== undefined && heardBefore && !sameValue(value, old))
          this.#happen(trigger, value, old);
        return;
      }
      const main = levelOf(condition, value, trigger.main);
      if (main === trigger.main) return;
      trigger.main = main;
      if (condition.previous !== undefined) {
        trigger.ready = main === TRUE && old !== undefined && among(condition.previous, old);
        trigger.from = trigger.ready ? literal(old as SourceValue) : undefined;
      }
    } else if (condition.kind === 'zone') {
      const main = sideOf(condition, this.#parts.status, trigger.main);
      if (main === trigger.main) return;
      trigger.main = main;
    } else {
      const used = usedOf(value);
      if (used === trigger.used) return;
      trigger.used = used;
    }
    this.#parts.changed(trigger.monitor);
    this.#consider(trigger);
  }

  /** Applies an occurrence to a trigger that watches it, with the present and the previous value. */
  #happen(trigger: RunningTrigger, value: SourceValue, old?: SourceValue): void {
    const { condition } = trigger.compiled;
    if (condition.kind !== 'data' || !condition.occurrence) return;
    if (condition.op !== 'onChange' && levelOf(condition, value, FALSE) !== TRUE) return;
    if (condition.previous !== undefined && (old === undefined || !among(condition.previous, old))) return;
    trigger.from = condition.previous === undefined || old === undefined ? undefined : literal(old);
    this.#occurring.push(trigger);
    this.#assign(trigger, TRUE);
  }

  /** Evaluates the condition; the result applies at once or after the trigger's wait. */
  #consider(trigger: RunningTrigger): void {
    const raw = rawOf(trigger);
    const { holdFor } = trigger.compiled;
    if (raw !== TRUE) this.#timers.remove(trigger);
    else if (holdFor > 0) {
      if (trigger.truth === TRUE || trigger.place >= 0) return;
      this.#timers.set(trigger, this.now + holdFor);
      this.#parts.changed(trigger.monitor);
      return;
    }
    this.#assign(trigger, raw);
  }

  #assign(trigger: RunningTrigger, truth: Truth): void {
    const { monitor } = trigger;
    if (trigger.truth === truth) return;
    trigger.truth = truth;
    monitor.truths[trigger.bit] = truth;
    this.#touch(monitor);
    this.#parts.changed(monitor);
  }

  #touch(monitor: RunningMonitor): void {
    if (monitor.touched) return;
    monitor.touched = true;
    this.#touched.push(monitor);
  }

  /** Evaluates the monitors with the occurrences of this step, then without them. */
  #settle(): void {
    this.#judgeAll();
    if (this.occurring.size > 0) this.occurring.clear();
    if (this.#occurring.length === 0) return;
    const over = this.#occurring;
    this.#occurring = [];
    for (const trigger of over) {
      this.#assign(trigger, FALSE);
      trigger.from = undefined;
    }
    this.#judgeAll();
  }

  #judgeAll(): void {
    if (this.#touched.length === 0) return;
    const touched = inOrder(this.#touched);
    this.#touched = [];
    for (const monitor of touched) {
      monitor.touched = false;
      this.#judge(monitor);
    }
  }

  #judge(monitor: RunningMonitor): void {
    const { table, refresh } = monitor.compiled;
    const outcome = judge(table, monitor.truths);
    if (outcome === UNKNOWN || monitor.satisfied === (outcome === TRUE)) return;
    monitor.satisfied = outcome === TRUE;
    this.#parts.changed(monitor);
    if (outcome === FALSE) {
      this.#timers.remove(monitor);
      return;
    }
    this.#parts.tell(monitor, false);
    if (refresh !== undefined) this.#timers.set(monitor, this.now + refresh);
  }

  #refresh(monitor: RunningMonitor): void {
    const { table, refresh } = monitor.compiled;
    // The monitor may have become armed in this step, and satisfied again.
    if (!monitor.satisfied || monitor.place >= 0 || refresh === undefined) return;
    if (judge(table, monitor.truths) === TRUE) this.#parts.tell(monitor, true);
    this.#timers.set(monitor, this.now + refresh);
    this.#parts.changed(monitor);
  }
}

function inOrder(monitors: RunningMonitor[]): RunningMonitor[] {
  return monitors.length < 2 ? monitors : monitors.sort((a, b) => a.order - b.order);
}
