/** Additional interlocks that a profile defines for a command. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadProfile } from '../../config/profile.ts';
import { shippedProfiles } from '../../config/shipped.ts';

function read(requires: string) {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-requirements-'));
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
  const file = join(folder, 'profile.yaml');
  writeFileSync(
    file,
    `profile: 1
name: car
buses: [{ name: can, dbc: [car.dbc] }]
status:
  kinetic.speed: { signal: MOTION.Speed, timeout: 5s }
  doorsState.lockedStates: { signal: BODY.Lock, map: { 0: [Unlocked], 1: [Locked] }, timeout: 5s }
commands:
  doors:
    lock:
      send: { message: REQUEST, signals: { Lock: 1 } }
      confirm: { path: doorsState.lockedStates, includes: Locked }
      requires:
        - ${requires}
`,
  );
  return loadProfile(file, { shipped: shippedProfiles });
}

test.each([
  ['{ path: kinetic.speed, atMost: 3, cause: VehicleInUse }'],
  ['{ path: kinetic.speed, equals: 0, cause: VehicleInUse }'],
  ['{ path: doorsState.lockedStates, includes: Unlocked, cause: VehicleIsNotLocked }'],
])('the condition %s is accepted', (text) => {
  const { profile, diagnostics } = read(text);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const [given] = profile?.commands['doors.lock']?.requires ?? [];
  expect(text).toContain(`path: ${given?.path},`);
  expect(text).toContain(`cause: ${given?.cause} `);
});

test.each([
  ['{ path: kinetic.speed, cause: VehicleInUse }', /exactly one/],
  ['{ path: kinetic.speed, atMost: 3, atLeast: 1, cause: VehicleInUse }', /exactly one/],
  ['{ path: kinetic.speed, includes: Fast, cause: VehicleInUse }', /not a set/],
  ['{ path: doorsState.lockedStates, equals: Locked, cause: DoorsOpen }', /a set/],
  ['{ path: doorsState.lockedStates, atMost: 3, cause: DoorsOpen }', /not a number/],
  ['{ path: doorsState.lockedStates, includes: Ajar, cause: DoorsOpen }', /never "Ajar"/],
  ['{ path: kinetic.sped, atMost: 3, cause: VehicleInUse }', /no path/],
  ['{ path: ignition.type, equals: Stop, cause: VehicleInUse }', /always be refused/],
  ['{ path: kinetic.speed, atMost: 3 }', /cause/],
  ['{ path: kinetic.speed, atMost: 3, cause: Tired }', /Tired|one of/],
])('%s is an error', (text, message) => {
  const { diagnostics } = read(text);
  expect(diagnostics.map((finding) => finding.message).join('\n')).toMatch(message);
  // At least one error is at the line of the condition.
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ line }) => line)).toContain(13);
});
