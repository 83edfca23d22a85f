/** Sources of triggers: slots of Status, several slots together, or records. */
import { dataRules, isSignal, type SignalDataName, signalNameOf } from '../../protocol/schema/monitor/data.ts';
import { type Slot, type SlotValue, slotAt, slots } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { MonitorSignals, WatchedSignal } from './custom-signals.ts';
import { type Facts, privacyState } from './facts.ts';
import { edgesOf, type RunningTrigger, type SourceName, type SourceValue, type TriggerSource } from './running.ts';
import { Thresholds } from './thresholds.ts';

const pathsOf: Readonly<Partial<Record<SourceName, readonly string[]>>> = {
  'vehicle.autonomy': ['energies.Fuel.autonomy', 'energies.Electric.autonomy'],
  'vehicle.safety.beltWarning': ['safety.beltStatus.Driver.belt', 'safety.beltStatus.Passenger.belt'],
  'vehicle.doorsState.opening': slots.map(({ path }) => path).filter((path) => path.startsWith('doorsState.opening.')),
  'vehicle.alert': [privacyState.path],
  'vehicle.maintenance.daysBeforeMaintenance': [privacyState.path],
  'vehicle.maintenance.mileageBeforeMaintenance': [privacyState.path],
  'stolen.state': [privacyState.path],
  used: ['kinetic.moving', 'kinetic.speed', 'ignition.type', 'powertrain.status'],
  position: ['lastPosition.latitude', 'lastPosition.longitude', 'lastPosition.type', 'lastPosition.fixStatus'],
};

const deferred: ReadonlySet<SourceName> = new Set(['vehicle.autonomy', 'position']);

const inUse: ReadonlySet<SlotValue> = new Set(['StartUp', 'Start', 'Starting', 'Running', 'Stopping']);

export interface CustomSignalParts {
  readonly signals: MonitorSignals;
  /** Called at each change of a custom signal that a monitor watches. */
  readonly heard: (source: TriggerSource, at: number) => void;
}

/** The sources that monitors watch. */
export class Sources {
  readonly #custom: CustomSignalParts | undefined;
  readonly #status: StatusReader;
  readonly #facts: Facts;
  readonly #byName = new Map<SourceName, TriggerSource>();
  /** Sources by slot index; undefined for a slot that no monitor watches. */
  readonly bySlot: (TriggerSource[] | undefined)[] = new Array(slots.length).fill(undefined);

  /** @param custom omitted if the profile has no custom signals */
  constructor(status: StatusReader, facts: Facts, custom?: CustomSignalParts) {
    this.#status = status;
    this.#facts = facts;
    this.#custom = custom;
  }

  /** Returns the source, or undefined if no monitor watches it. */
  watched(name: SourceName): TriggerSource | undefined {
    return this.#byName.get(name);
  }

  get all(): Iterable<TriggerSource> {
    return this.#byName.values();
  }

  /** Subscribes the trigger to the changes of this source. */
  watch(name: SourceName, trigger: RunningTrigger): TriggerSource {
    const source = this.#byName.get(name) ?? this.#begin(name);
    source.triggers.push(trigger);
    source.thresholds.add(trigger, edgesOf(trigger.compiled));
    source.anew = true;
    return source;
  }

  unwatch(source: TriggerSource, trigger: RunningTrigger): void {
    source.triggers.splice(source.triggers.indexOf(trigger), 1);
    source.thresholds.remove(trigger);
    source.anew = true;
    if (source.triggers.length > 0) return;
    source.signal?.end();
    this.#byName.delete(source.name);
    for (const { index } of source.slots) {
      const left = this.bySlot[index]?.filter((other) => other !== source) ?? [];
      this.bySlot[index] = left.length === 0 ? undefined : left;
    }
  }

  /** Returns the current value of the source, watched or not. */
  value(name: SourceName): SourceValue | undefined {
    if (isSignal(name)) {
      const source = this.#byName.get(name);
      return source?.before === true ? source.last : source?.read();
    }
    return this.#read(name, slotsOf(name));
  }

  #begin(name: SourceName): TriggerSource {
    const parts = slotsOf(name);
    const signal = isSignal(name) ? this.#watchSignal(name) : undefined;
    const read = isSignal(name) ? () => signal?.read() : () => this.#read(name, parts);
    const source: TriggerSource = {
      name,
      slots: parts,
      single: isSingle(name),
      deferred: deferred.has(name),
      signal,
      obscured: false,
      before: false,
      read,
      last: read(),
      dirty: false,
      triggers: [],
      thresholds: new Thresholds(),
      anew: true,
    };
    this.#byName.set(name, source);
    for (const { index } of parts) this.bySlot[index] = [...(this.bySlot[index] ?? []), source];
    return source;
  }

  #watchSignal(name: SignalDataName): WatchedSignal | undefined {
    const { signals, heard } = this.#custom ?? {};
    return signals?.watch(signalNameOf(name), (at) => {
      const source = this.#byName.get(name);
      if (source !== undefined) heard?.(source, at);
    });
  }

  #read(name: SourceName, parts: readonly Slot[]): SourceValue | undefined {
    switch (name) {
      case 'vehicle.autonomy':
        return this.#sum(parts);
      case 'vehicle.safety.beltWarning':
        return this.#belts(parts);
      case 'vehicle.doorsState.opening':
        return this.#opening(parts);
      case 'vehicle.alert':
        return this.#facts.hidden > 1 ? undefined : this.#facts.alerts.map(({ type }) => type);
      case 'vehicle.maintenance.daysBeforeMaintenance':
        return this.#facts.hidden > 1 ? undefined : this.#facts.newest('maintenance')?.daysBeforeMaintenance;
      case 'vehicle.maintenance.mileageBeforeMaintenance':
        return this.#facts.hidden > 1 ? undefined : this.#facts.newest('maintenance')?.mileageBeforeMaintenance;
      case 'stolen.state':
        return this.#facts.hidden > 1 ? undefined : String(this.#facts.newest('stolen')?.state ?? false);
      case 'used':
        return this.#used(parts);
      case 'position':
        // The triggers themselves evaluate the position, at each tick after a change.
        return undefined;
      default: {
        const [only] = parts;
        return only === undefined ? undefined : sourceValue(this.#status.value(only));
      }
    }
  }

  #known(parts: readonly Slot[]): SlotValue[] {
    return parts.map((slot) => this.#status.value(slot)).filter((value) => value !== undefined);
  }

  #sum(parts: readonly Slot[]): number | undefined {
    const known = this.#known(parts) as number[];
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
  }

  #belts(parts: readonly Slot[]): string | undefined {
    const known = this.#known(parts);
    if (known.length === 0) return undefined;
    return known.includes('Omission') ? 'Omission' : 'Normal';
  }

  #opening(parts: readonly Slot[]): readonly string[] | undefined {
    if (this.#known(parts).length === 0) return undefined;
    const open = parts.filter((slot) => this.#status.value(slot) === 'Open');
    return open.length === 0 ? ['Closed'] : open.map(({ path }) => path.split('.')[2] as string);
  }

  #used(parts: readonly Slot[]): string | undefined {
    const known = this.#known(parts);
    if (known.length === 0) return undefined;
    const used = known.some((value) => value === true || (typeof value === 'number' && value > 0) || inUse.has(value));
    return String(used);
  }
}

function isSingle(name: SourceName): boolean {
  if (isSignal(name)) return true;
  return name !== 'used' && name !== 'position' && dataRules[name].path !== undefined;
}

function slotsOf(name: SourceName): readonly Slot[] {
  if (isSignal(name)) return [];
  const single = name === 'used' || name === 'position' ? undefined : dataRules[name].path;
  const paths = single === undefined ? (pathsOf[name] ?? []) : [single];
  return paths.map((path) => slotAt(path));
}

/** Returns a slot's value in the form that triggers compare. */
export function sourceValue(value: SlotValue | undefined): SourceValue | undefined {
  if (value === undefined || typeof value === 'number' || typeof value === 'string') return value;
  return Array.isArray(value) ? (value as readonly string[]) : String(value);
}

export function sameValue(a: SourceValue | undefined, b: SourceValue | undefined): boolean {
  if (a === b) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((name, index) => name === b[index]);
}

/** Returns a value as an event contains it. */
export function literal(value: SourceValue): string {
  return typeof value === 'object' ? value.join(',') : String(value);
}
