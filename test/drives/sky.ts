/** The shipped profile for any car, with a GNSS receiver as a user adds one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadVehicle, type Vehicle } from '../../assembly/vehicle.ts';

const shipped = fileURLToPath(new URL('../../config/vehicles/generic-obd2/', import.meta.url));

const positions = `status:
  lastPosition.latitude: { signal: GNSS.latitude, timeout: 5s }
  lastPosition.longitude: { signal: GNSS.longitude, timeout: 5s }
  lastPosition.heading: { signal: GNSS.heading, timeout: 5s }
  lastPosition.fixStatus: { signal: GNSS.fix, timeout: 5s, map: { 2: 2D, 3: 3D } }
`;

/** Text of the profile, with absolute paths to its signal sets. */
export function profileWithReceiver(): string {
  const text = readFileSync(join(shipped, 'profile.yaml'), 'utf8').replace('signalsets: [', `signalsets: [${shipped}`);
  if (text.includes('gnss: true')) return text;
  return text.replace(/^buses:\n/m, 'buses:\n  - { name: sky, gnss: true }\n').replace(/^status:\n/m, positions);
}

export function vehicleWithReceiver(): Vehicle {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-sky-'));
  try {
    writeFileSync(join(folder, 'profile.yaml'), profileWithReceiver());
    return loadVehicle(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
