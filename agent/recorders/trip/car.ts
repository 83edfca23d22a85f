/** Present facts about the car from Status. */
import type { Propulsion } from '../../../protocol/schema/trip.ts';
import type { Slot } from '../../../protocol/slots.ts';
import type { StatusReader } from '../../model/status.ts';
import * as slots from './slots.ts';

/** Switch state of the car. Undefined if no slot shows it. */
type Power = 'on' | 'off' | undefined;

/**
 * Priority: the ignition, because an engine also stops at a red light; then the powertrain; then a running engine,
 * which means at least on. A stopped engine proves nothing: the car may also be electric, or have a start-stop system.
 */
export function powerOf(status: StatusReader): Power {
  const ignition = status.value(slots.ignition);
  const powertrain = status.value(slots.powertrain);
  const runs = powertrain === 'Running' || powertrain === 'Starting';
  if (ignition !== undefined) return ignition === 'Start' || (ignition === 'StartUp' && runs) ? 'on' : 'off';
  if (powertrain !== undefined) return runs ? 'on' : 'off';
  return turns(status, slots.thermicSpeed) || turns(status, slots.electricSpeed) ? 'on' : undefined;
}

/** Returns true if the car reports a switch: ignition or powertrain. */
export function hasSwitch(status: StatusReader): boolean {
  return status.value(slots.ignition) !== undefined || status.value(slots.powertrain) !== undefined;
}

/** Returns true if `read` contains an input of {@link powerOf}. */
export function tellsPower(status: StatusReader, read: (slot: Slot) => boolean): boolean {
  const ignition = status.value(slots.ignition);
  // StartUp is ambiguous: the powertrain decides, and its signal may arrive later.
  if (ignition !== undefined) return read(slots.ignition) || (ignition === 'StartUp' && read(slots.powertrain));
  if (status.value(slots.powertrain) !== undefined) return read(slots.powertrain);
  return read(slots.thermicSpeed) || read(slots.electricSpeed);
}

/** Returns true if Status has a value that can show movement. */
export function measuresWay(status: StatusReader): boolean {
  const known = (slot: Slot): boolean => status.value(slot) !== undefined;
  return known(slots.speed) || known(slots.moving) || known(slots.mileage) || known(slots.latitude);
}

/**
 * Returns the drive of the car according to its engines; if they are unknown, to the mode that the driver chose; if
 * that is ambiguous, to the energies of the car (`takes`).
 */
export function propulsionOf(
  status: StatusReader,
  takes: { readonly Fuel: boolean; readonly Electric: boolean },
): Propulsion | undefined {
  const thermic = status.value(slots.thermicSpeed);
  const electric = status.value(slots.electricSpeed);
  if (thermic !== undefined && electric !== undefined) {
    // A car that coasts with both engines at rest has stopped its thermal engine: it uses its electric drive.
    if (thermic === 0) return 'Electric';
    return electric === 0 ? 'Thermal' : 'Hybrid';
  }
  if (thermic !== undefined) return thermic === 0 && takes.Electric ? 'Electric' : 'Thermal';
  if (electric !== undefined && !takes.Fuel) return 'Electric';
  const mode = status.value(slots.drivingMode);
  if (mode === 'ZEV' || mode === 'ZEVEco') return 'Electric';
  if (mode === 'Hybrid' || mode === 'HybridEco' || (takes.Fuel && takes.Electric)) return 'Hybrid';
  return takes.Electric || electric !== undefined ? 'Electric' : takes.Fuel ? 'Thermal' : undefined;
}

function turns(status: StatusReader, slot: Slot): boolean {
  const speed = status.value(slot);
  return typeof speed === 'number' && speed !== 0;
}
