/** Data that triggers can watch: interface 3.19.2 and 4.17.2 DataTrigger, one list for both lines. */
import { slotByPath } from '../../slots.ts';
import { alertTypes } from '../alert-types.ts';
import { collisionSeverities, collisionSides } from '../collision.ts';
import { tripStates } from '../trip.ts';

/**
 * Published names, and `signal` for a custom signal, which another field names. The wire carries the position in
 * this list: append only.
 */
export const dataCodes = [
  'vehicle.alert',
  'vehicle.odometer',
  'vehicle.powertrain.status',
  'vehicle.engines.thermic.oil.temp',
  'vehicle.energy.electric.level',
  'vehicle.energy.electric.autonomy',
  'vehicle.energy.fuel.level',
  'vehicle.energy.fuel.autonomy',
  'vehicle.autonomy',
  'vehicle.energy.charging.status',
  'vehicle.energy.charging.plugged',
  'vehicle.energy.charging.type',
  'vehicle.doorsState.lockedState',
  'vehicle.doorsState.opening',
  'vehicle.kinetic.moving',
  'vehicle.kinetic.speed',
  'vehicle.trip',
  'vehicle.trip.start',
  'vehicle.trip.stop',
  'vehicle.trip.duration',
  'vehicle.trip.distance',
  'vehicle.trip.state',
  'vehicle.maintenance.daysBeforeMaintenance',
  'vehicle.maintenance.mileageBeforeMaintenance',
  'vehicle.safety.beltWarning',
  'environment.air.temp',
  'privacy.state',
  'vehicle.drivingBehavior.mode',
  'vehicle.collision.side',
  'vehicle.collision.severity',
  'vehicle.safety.autoECallTriggering',
  'vehicle.preconditioning.airConditioning',
  'vehicle.alarm.trigger.type',
  'vehicle.alarm.status.activation',
  'stolen.state',
  'signal',
] as const;
export type DataCode = (typeof dataCodes)[number];

/** Published names. */
export type DataName = Exclude<DataCode, 'signal'>;
export const dataNames: readonly DataName[] = dataCodes.filter((code) => code !== 'signal');

/** A custom signal of the profile. */
export type SignalDataName = `signal.${string}`;
/** Value named by a data trigger. */
export type TriggerData = DataName | SignalDataName;

export function isSignal(data: string): data is SignalDataName {
  return data.startsWith('signal.');
}

/** Returns the name of the custom signal. */
export function signalNameOf(data: SignalDataName): string {
  return data.slice('signal.'.length);
}

/** Converts data to the wire form. */
export function codedData(data: TriggerData): { readonly data: DataCode; readonly signal?: string } {
  return isSignal(data) ? { data: 'signal', signal: signalNameOf(data) } : { data };
}

/** Converts data to the names that people and the HTTP interface use. */
export function dataOf({ data, signal }: { readonly data: DataCode; readonly signal?: string }): TriggerData {
  return data === 'signal' ? `signal.${signal ?? ''}` : data;
}

/** Interface 3.19.2 DataTrigger.op. */
export const dataOperators = ['equalsTo', 'greaterThan', 'lowerThan', 'includedIn', 'onChange'] as const;
export type DataOperator = (typeof dataOperators)[number];

/** Interface 4.17.2 DataTrigger.previous.op. */
export const previousOperators = ['equalsTo', 'includedIn'] as const;

export interface DataRule {
  readonly operators: readonly DataOperator[];
  /** Numbers, or the possible names; undefined: any string, which no operator compares. */
  readonly values: 'number' | readonly string[] | undefined;
  /** Returns true for a possible value that `values` does not contain: a raw value without a name. */
  readonly unnamed?: (value: string) => boolean;
  /** The path of Status with the value; undefined if it is made of several paths, or of records. */
  readonly path: string | undefined;
  /** True for an event, which has no current value. */
  readonly occurrence: boolean;
}

const numeric = ['equalsTo', 'greaterThan', 'lowerThan'] as const;
const named = ['onChange', 'equalsTo', 'includedIn'] as const;
const chosen = ['onChange', 'equalsTo'] as const;
const flags = ['true', 'false'] as const;
const charging = 'energies.Electric.extension.electric.charging';

const slotNumber = (path: string): DataRule => ({ operators: numeric, values: 'number', path, occurrence: false });
const kept: DataRule = { operators: numeric, values: 'number', path: undefined, occurrence: false };
const slotNames = (operators: readonly DataOperator[], path: string): DataRule => ({
  operators,
  values: slotByPath.get(path)?.values ?? flags,
  path,
  occurrence: false,
});
const happens = (operators: readonly DataOperator[], values: DataRule['values']): DataRule => ({
  operators,
  values,
  path: undefined,
  occurrence: true,
});

/** Operators and values of each name. Published rules of the data triggers, interface.md §3. */
export const dataRules: Readonly<Record<DataName, DataRule>> = {
  'vehicle.alert': { operators: named, values: alertTypes, path: undefined, occurrence: false },
  'vehicle.odometer': slotNumber('odometer.mileage'),
  'vehicle.powertrain.status': slotNames(named, 'powertrain.status'),
  'vehicle.engines.thermic.oil.temp': slotNumber('engines.Thermic.extension.thermic.oil.temp'),
  'vehicle.energy.electric.level': slotNumber('energies.Electric.level'),
  'vehicle.energy.electric.autonomy': slotNumber('energies.Electric.autonomy'),
  'vehicle.energy.fuel.level': slotNumber('energies.Fuel.level'),
  'vehicle.energy.fuel.autonomy': slotNumber('energies.Fuel.autonomy'),
  'vehicle.autonomy': kept,
  'vehicle.energy.charging.status': slotNames(named, `${charging}.status`),
  'vehicle.energy.charging.plugged': slotNames(chosen, `${charging}.plugged`),
  'vehicle.energy.charging.type': slotNames(chosen, `${charging}.type`),
  'vehicle.doorsState.lockedState': slotNames(['onChange'], 'doorsState.lockedStates'),
  'vehicle.doorsState.opening': {
    operators: ['onChange'],
    values: ['Driver', 'Passenger', 'RearLeft', 'RearRight', 'Trunk', 'RearWindow', 'RoofWindow', 'Closed'],
    path: undefined,
    occurrence: false,
  },
  'vehicle.kinetic.moving': slotNames(chosen, 'kinetic.moving'),
  'vehicle.kinetic.speed': slotNumber('kinetic.speed'),
  'vehicle.trip': happens(['onChange'], undefined),
  'vehicle.trip.start': happens(['onChange'], undefined),
  'vehicle.trip.stop': happens(['onChange'], undefined),
  'vehicle.trip.duration': happens(numeric, 'number'),
  'vehicle.trip.distance': happens(numeric, 'number'),
  'vehicle.trip.state': happens(['includedIn'], tripStates),
  'vehicle.maintenance.daysBeforeMaintenance': kept,
  'vehicle.maintenance.mileageBeforeMaintenance': kept,
  'vehicle.safety.beltWarning': {
    operators: chosen,
    values: ['Normal', 'Omission'],
    path: undefined,
    occurrence: false,
  },
  'environment.air.temp': slotNumber('environment.air.temp'),
  'privacy.state': slotNames(named, 'privacy.state'),
  'vehicle.drivingBehavior.mode': slotNames(named, 'drivingBehavior.mode'),
  'vehicle.collision.side': happens(['equalsTo', 'includedIn'], collisionSides),
  'vehicle.collision.severity': happens(['equalsTo', 'includedIn'], collisionSeverities),
  'vehicle.safety.autoECallTriggering': slotNames(named, 'safety.autoECallTriggering'),
  'vehicle.preconditioning.airConditioning': slotNames(['onChange'], 'preconditioning.airConditioning.status'),
  'vehicle.alarm.trigger.type': slotNames(named, 'alarm.trigger.type'),
  'vehicle.alarm.status.activation': slotNames(chosen, 'alarm.status.activation'),
  'stolen.state': { operators: chosen, values: flags, path: undefined, occurrence: false },
};

const bare = (name: string): string =>
  name
    .replace(/^vehicle\./, '')
    .replace(/^doorsStates\b/, 'doorsState')
    .replace(/\blockedStates$/, 'lockedState')
    .replace(/^energies\b/, 'energy')
    .replace(/^preconditionning\b/, 'preconditioning');

const byBareName: ReadonlyMap<string, DataName> = new Map(dataNames.map((name) => [bare(name), name]));

/** Returns the published name for any accepted spelling, or undefined if there is no such data. */
export function dataNameOf(spelled: string): DataName | undefined {
  return byBareName.get(bare(spelled));
}
