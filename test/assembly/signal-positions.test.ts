/** Which custom signals of a profile are positions, so that Geolocation privacy hides them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadVehicle } from '../../assembly/vehicle.ts';

const dbc = `VERSION ""
BU_: ECU
BO_ 256 PLACE: 8 ECU
 SG_ Latitude : 0|16@1- (0.01,0) [0|0] "deg" ECU
 SG_ Longitude : 16|16@1- (0.01,0) [0|0] "deg" ECU
 SG_ Height : 32|16@1- (1,0) [0|0] "m" ECU
 SG_ Location : 48|8@1+ (1,0) [0|0] "" ECU
`;

function positionsOf(signals: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-positions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'car.dbc'), dbc);
  const status = 'status:\n  lastPosition.latitude: { signal: PLACE.Latitude }\n';
  const profile = `profile: 1\nname: places\nbuses:\n  - { name: can, dbc: [car.dbc] }\n${status}signals:\n${signals}`;
  writeFileSync(join(folder, 'profile.yaml'), profile);
  const { profile: read } = loadVehicle(join(folder, 'profile.yaml'));
  return (read.signals ?? []).filter(({ position }) => position).map(({ name }) => name);
}

test('a signal name with the part Location or CurrentLocation is a position', () => {
  const signals = `  Location.Height: { signal: PLACE.Height }
  Vehicle.CurrentLocation.Longitude: { signal: PLACE.Longitude }
  Vehicle.Location: { signal: PLACE.Height }
  lastPosition.altitude: { signal: PLACE.Height }
  Vehicle.Locations.Height: { signal: PLACE.Height }
`;
  expect(positionsOf(signals)).toEqual([
    'Location.Height',
    'Vehicle.CurrentLocation.Longitude',
    'Vehicle.Location',
    'lastPosition.altitude',
  ]);
  expect(positionsOf('  Vehicle.Place.*: { signal: PLACE.* }\n')).toContain('Vehicle.Place.Location');
});

test('a signal that status maps to a position is one under any name, unless the profile denies it', () => {
  expect(positionsOf('  Vehicle.North: { signal: PLACE.Latitude }\n')).toEqual(['Vehicle.North']);
  expect(positionsOf('  Vehicle.Place.*: { signal: PLACE.* }\n')).toContain('Vehicle.Place.Latitude');
  expect(positionsOf('  Vehicle.North: { signal: PLACE.Latitude, position: false }\n')).toEqual([]);
});
