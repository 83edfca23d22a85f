/**
 * What the two lines of the interface write differently, and what the user line repeats for old clients: deprecated
 * twins of members that have another place or name now. docs: interface 4.17.2 Energy, EngineBase, Adas.
 */
import type { Context } from './context.ts';

/** An object of an answer while it is being made. */
export type Written = Record<string, unknown>;

const memberOf = (object: Written | undefined, name: string): Written | undefined =>
  object?.[name] as Written | undefined;

/** Interface 4.17.2 writes `off` where 3.19.2 writes `Off`. */
export function adasOf({ side }: Context, adas: Written): Written {
  return side === 'user' && adas['aebs'] === 'Off' ? { ...adas, aebs: 'off' } : adas;
}

/** With `oil.temp` beside `extension.thermic.oil.temp`. */
export function engineOf(engine: Written): Written {
  const temp = memberOf(memberOf(memberOf(engine, 'extension'), 'thermic'), 'oil')?.['temp'];
  return temp === undefined ? engine : { ...engine, oil: { temp } };
}

/**
 * With `extension.fuel.consumption` (of this moment, L/100 km), `extension.electric.residual` (kWh) and
 * `extension.electric.battery.capacity` (Wh) beside what replaced them.
 */
export function energyOf(energy: Written): Written {
  const extension = memberOf(energy, 'extension');
  if (extension === undefined) return { ...energy };
  const fuel = memberOf(extension, 'fuel');
  const electric = memberOf(extension, 'electric');
  return {
    ...energy,
    extension: {
      ...extension,
      ...(fuel === undefined ? {} : { fuel: fuelOf(fuel) }),
      ...(electric === undefined ? {} : { electric: electricOf(electric) }),
    },
  };
}

function fuelOf(fuel: Written): Written {
  const consumption = memberOf(fuel, 'consumptions')?.['instant'];
  return consumption === undefined ? fuel : { ...fuel, consumption: { consumption } };
}

function electricOf(electric: Written): Written {
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

/** With `airConditioning.updatedAt` beside `createdAt`. */
export function preconditioningOf(preconditioning: Written): Written {
  const airConditioning = memberOf(preconditioning, 'airConditioning');
  if (airConditioning === undefined) return preconditioning;
  return { ...preconditioning, airConditioning: { ...airConditioning, updatedAt: airConditioning['createdAt'] } };
}
