import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory with a DBC, a profile and a log of a small car, like a user has. */
export function smallCar() {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-small-car-'));
  const file = (name: string, text: string, mode = 0o644): string => {
    writeFileSync(join(folder, name), text, { mode });
    return join(folder, name);
  };
  const dbc = file(
    'small.dbc',
    `VERSION ""
BU_: ECU
BO_ 256 MOTION: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|655.34] "km/h" ECU
BO_ 512 BODY: 2 ECU
 SG_ DoorDriver : 0|1@1+ (1,0) [0|1] "" ECU
 SG_ BeltDriver : 1|1@1+ (1,0) [0|1] "" ECU
 SG_ BigCounter : 8|8@1+ (1,0) [0|255] "" ECU
VAL_ 512 DoorDriver 0 "Shut" 1 "Open" ;
`,
  );
  const profile = file(
    'profile.yaml',
    `profile: 1
name: small
title: A small car
buses:
  - { name: can, dbc: [small.dbc] }
status:
  kinetic.speed: { signal: MOTION.Speed, timeout: 5s, invalid: [65535] }
  doorsState.opening.Driver.state: { signal: BODY.DoorDriver, map: { 0: Closed, 1: Open } }
  safety.beltStatus.Driver.belt: { signal: BODY.BeltDriver, map: { 0: Omission, 1: Normal } }
`,
  );
  const start = 1_700_000_000;
  const lines: string[] = [];
  for (let i = 0; i < 2_000; i++) {
    const seconds = (start + i / 50).toFixed(6);
    const speed = Math.round(5000 + 3000 * Math.sin(i / 100));
    const bytes = [speed & 0xff, speed >> 8].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('');
    lines.push(`(${seconds}) can0 100#${bytes}000000000000`);
    if (i % 10 === 0) lines.push(`(${seconds}) can0 200#${Math.floor(i / 500) % 2 === 0 ? '02' : '01'}07`);
  }
  const log = file('drive.log', `${lines.join('\n')}\n`);
  return { folder, dbc, profile, log, lines, file };
}
