/** Telemetry: readings of the car at one time. */
import { telemetrySections } from '../../schema/monitor/extensions.ts';
import { type StatusContents, statusContentsSchema } from '../../schema/status.ts';
import { dateTime } from './date-time.ts';
import { adasJson, energyWithAliases, engineWithAliases, lightingAlias } from './deprecated-aliases.ts';
import { placePositions } from './position.ts';
import type { Viewer } from './viewer.ts';
import { type Members, writerOf } from './writer.ts';

/** Objects of Status below `vehicle`; the other two are its siblings. Interface 3.19.2 Telemetry. */
export const vehicleMembers: readonly string[] = telemetrySections['vehicle'] ?? [];
export const rootMembers: readonly string[] = ['environment', 'privacy'];

const write = writerOf<StatusContents>(statusContentsSchema);

/**
 * Interface 3.19.2 and 4.17.2 Telemetry without links, for a time in UTC ms. `types` are the requested ones
 * (TelemetryEnum); undefined: all.
 */
export function telemetryJson(
  viewer: Viewer,
  contents: StatusContents,
  at: number,
  types: readonly string[] | undefined,
): Members {
  const objects = objectsJson(viewer, contents);
  const vehicle: Members = {};
  for (const name of vehicleMembers) if (objects[name] !== undefined) vehicle[name] = objects[name];
  const lighting = writesLighting(viewer, types) ? lightingAlias(vehicle['lightingSystem'] as Members) : undefined;
  if (lighting !== undefined) vehicle['lighting'] = lighting;
  const written: Members = { createdAt: dateTime(at) };
  for (const name of rootMembers) if (objects[name] !== undefined) written[name] = objects[name];
  if (Object.keys(vehicle).length > 0) written['vehicle'] = vehicle;
  return written;
}

/** Returns true if the deprecated form of the lamps was requested, which only the fleet line has. */
function writesLighting({ side }: Viewer, types: readonly string[] | undefined): boolean {
  return side === 'fleet' && (types === undefined || types.includes('vehicle') || types.includes('vehicle.lighting'));
}

/**
 * Returns the objects of Status without their times, except where the published model has one: IgnitionBase on both
 * lines, WipingBladesState on the fleet line, and the position of an alarm.
 */
function objectsJson(viewer: Viewer, contents: StatusContents): Members {
  const dated = write(contents);
  const written = withoutTimes(dated) as Members;
  if (dated['ignition'] !== undefined) written['ignition'] = dated['ignition'];
  if (dated['wipingBlades'] !== undefined && viewer.side === 'fleet') written['wipingBlades'] = dated['wipingBlades'];
  const { trigger } = contents.alarm ?? {};
  if (trigger !== undefined) {
    placePositions(viewer, (written['alarm'] as Members)['trigger'] as Members, trigger, ['position']);
  }
  const { adas, engines, energies } = written;
  if (adas !== undefined) written['adas'] = adasJson(viewer, adas as Members);
  if (!viewer.aliases) return written;
  if (engines !== undefined) written['engines'] = (engines as Members[]).map(engineWithAliases);
  if (energies !== undefined) written['energies'] = (energies as Members[]).map(energyWithAliases);
  return written;
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (name === 'createdAt' ? [] : [[name, withoutTimes(member)]])),
  );
}
