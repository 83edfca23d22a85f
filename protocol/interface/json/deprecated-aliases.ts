/**
 * Fields that the user line repeats for old clients under another path or name, and differences in spelling between
 * the two lines. Interface 4.17.2 Energy, EngineBase, Adas; 3.19.2 Telemetry.vehicle.lighting.
 */
import type { Viewer } from './viewer.ts';
import type { Members } from './writer.ts';

const memberOf = (object: Members | undefined, name: string): Members | undefined =>
  object?.[name] as Members | undefined;

/** Writes `off` for the user line: interface 4.17.2 has `off` where 3.19.2 has `Off`. */
export function adasJson({ side }: Viewer, adas: Members): Members {
  return side === 'user' && adas['aebs'] === 'Off' ? { ...adas, aebs: 'off' } : adas;
}

/** Adds `oil.temp`, a copy of `extension.thermic.oil.temp`. */
export function engineWithAliases(engine: Members): Members {
  const temp = memberOf(memberOf(memberOf(engine, 'extension'), 'thermic'), 'oil')?.['temp'];
  return temp === undefined ? engine : { ...engine, oil: { temp } };
}

/**
 * Adds `extension.fuel.consumption` (current, L/100 km), `extension.electric.residual` (kWh) and
 * `extension.electric.battery.capacity` (Wh), in addition to their replacements.
 */
export function energyWithAliases(energy: Members): Members {
  const extension = memberOf(energy, 'extension');
  if (extension === undefined) return { ...energy };
  const fuel = memberOf(extension, 'fuel');
  const electric = memberOf(extension, 'electric');
  return {
    ...energy,
    extension: {
      ...extension,
      ...(fuel === undefined ? {} : { fuel: fuelWithAliases(fuel) }),
      ...(electric === undefined ? {} : { electric: electricWithAliases(electric) }),
    },
  };
}

function fuelWithAliases(fuel: Members): Members {
  const consumption = memberOf(fuel, 'consumptions')?.['instant'];
  return consumption === undefined ? fuel : { ...fuel, consumption: { consumption } };
}

function electricWithAliases(electric: Members): Members {
  const battery = memberOf(electric, 'battery');
  const load = memberOf(battery, 'load');
  if (load === undefined) return electric;
  const { residual, capacity } = load;
  return {
    ...electric,
    ...(typeof residual === 'number' ? { residual: { consumption: residual / 1000 } } : {}),
    ...(capacity === undefined ? {} : { battery: { ...battery, capacity } }),
  };
}

/** Adds `airConditioning.updatedAt`, a copy of `createdAt`. */
export function preconditioningWithAliases(preconditioning: Members): Members {
  const airConditioning = memberOf(preconditioning, 'airConditioning');
  if (airConditioning === undefined) return preconditioning;
  return { ...preconditioning, airConditioning: { ...airConditioning, updatedAt: airConditioning['createdAt'] } };
}

interface Lamp {
  readonly direction: string;
  readonly position: string;
  readonly status?: string;
}

/** Returns three lists of equal length (side, end and state of each turn indicator), or undefined. */
export function lightingAlias(system: Members | undefined): Members | undefined {
  const lamps = ((system?.['turn'] ?? []) as readonly Lamp[]).filter(({ status }) => status !== undefined);
  if (lamps.length === 0) return undefined;
  return {
    turn: lamps.map(({ direction }) => direction),
    light: lamps.map(({ position }) => position),
    status: lamps.map(({ status }) => status),
  };
}
