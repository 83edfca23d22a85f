/** Tests YAML that people write: vehicle profiles and the configuration. */
import { readFileSync } from 'node:fs';
import { loadConfiguration } from '../../../config/configuration.ts';
import { loadProfile } from '../../../config/profile.ts';
import { shippedProfiles } from '../../../config/shipped.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';
import { scratchFile } from './scratch-file.ts';

const words = [
  '\n',
  '  ',
  '- ',
  ': ',
  '{',
  '}',
  '[',
  ']',
  ',',
  '&a ',
  '*a',
  '<<: *a',
  '!!binary ',
  '!!set',
  '? ',
  '| ',
  '> ',
  '"',
  "'",
  '#',
  '---\n',
  '...\n',
  '%YAML 1.1\n',
  '~',
  'null',
  '.inf',
  '-.inf',
  '.nan',
  '0x7f',
  '1e999',
  'yes',
  '__proto__: ',
  'constructor: ',
  '\t',
  '\ufeff',
  '5s',
  '1.5h',
  '16MiB',
];

/** Returns true if the input was refused. Every diagnostic must have a message and a position. */
function refused(diagnostics: readonly Diagnostic[], usable: boolean): boolean {
  for (const { line, message } of diagnostics) {
    if (!(line >= 0) || message === '') throw new Contradiction('a finding without a line or words');
  }
  const errors = diagnostics.some(({ severity }) => severity === 'error');
  if (errors === usable) throw new Contradiction(errors ? 'usable in spite of errors' : 'unusable without an error');
  return errors;
}

const small = (dbc: string) => `profile: 1
name: fuzz
title: A car
buses:
  - { name: body, dbc: ["${dbc}"] }
status:
  kinetic.speed: { signal: MOTION.Speed, timeout: 5s, invalid: [65535] }
  doorsState.lockedStates:
    - { signal: BODY.Locked, map: { 0: [Unlocked], 1: [Locked] }, timeout: 5s, failover: 2s }
    - { signal: BODY.Locked2, map: { 1: [Locked] }, timeout: 5s }
constants:
  service.type: Hybrid
telemetry:
  default: { interval: 1s }
  kinetic.speed: { interval: 250ms, deadBand: 0.5 }
commands:
  doors:
    lock:
      send:
        {
          message: BODY_COMMAND,
          signals: { LockRequest: 1 },
          every: 50ms,
          for: 500ms,
          counter: Counter,
          checksum: { signal: Checksum, method: xor },
        }
      confirm: { path: doorsState.lockedStates, includes: Locked }
      within: 5s
`;

export const profile: FuzzTarget = {
  name: 'profile',
  seeds: () => {
    const dbc = `${shippedProfiles}/bench/bench.dbc`;
    const shipped = readFileSync(`${shippedProfiles}/bench/profile.yaml`, 'utf8');
    return texts(small(dbc), shipped.replace('[bench.dbc]', `["${dbc}"]`));
  },
  words,
  run(input) {
    const { profile: read, diagnostics } = loadProfile(scratchFile(input, 'profile.yaml'), {
      shipped: shippedProfiles,
    });
    return !refused(diagnostics, read !== undefined);
  },
};

export const configuration: FuzzTarget = {
  name: 'configuration',
  seeds: () =>
    texts(`configuration: 1
vin: VF30A00000B000042
profile: bench
data: data
can:
  - { bus: body, simulated: true }
  - { bus: other, log: '-' }
mqtt:
  url: mqtt://127.0.0.1:1883
outbox: { limit: 16MiB }
log: { level: info }
`),
  words,
  run(input) {
    const { configuration: read, diagnostics } = loadConfiguration(scratchFile(input, 'vigie.yaml'), {});
    return !refused(diagnostics, read !== undefined);
  },
};
