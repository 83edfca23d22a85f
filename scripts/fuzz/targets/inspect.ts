/** Tests `vigie inspect`: its tables for arbitrary contents of logs and DBC files, and the profile that it suggests. */
import { rmSync } from 'node:fs';
import { type Database, type DbcMessage, parseDbc } from '../../../adapters/can/dbc/index.ts';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import { SignalObserver, Traffic } from '../../../adapters/can/inspect/index.ts';
import type { FrameBatch } from '../../../agent/ports.ts';
import { inspectVehicle } from '../../../assembly/vehicle.ts';
import { comparisonLines, reportLines } from '../../../commands/inspect/report.ts';
import { SuggestionObserver, writeSuggestions } from '../../../commands/suggest/suggestion-file.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';
import { scratchFile } from './scratch-file.ts';

const described = `VERSION ""
BU_: X
BO_ 291 Motion: 8 X
 SG_ Vehicle_Speed : 0|16@1+ (0.01,0) [0|300] "km/h" X
 SG_ Counter : 16|4@1+ (1,0) [0|15] "" X
 SG_ Checksum : 56|8@1+ (1,0) [0|255] "" X
BO_ 292 Body: 8 X
 SG_ DoorFrontLeft : 0|2@1+ (1,0) [0|3] "" X
 SG_ Odometer : 8|24@1+ (0.1,0) [0|1000000] "km" X
 SG_ OutsideTemp : 32|8@1+ (0.5,-40) [-40|87] "degC" X
BO_ 293 Energy: 8 X
 SG_ FuelLevel : 0|8@1+ (0.4,0) [0|100] "%" X
 SG_ Gear m1 : 16|4@1+ (1,0) [0|15] "" X
 SG_ Page M : 8|8@1+ (1,0) [0|3] "" X
VAL_ 292 DoorFrontLeft 0 "Closed" 1 "Open" 3 "SNA" ;
VAL_ 293 Gear 0 "P" 1 "R" 2 "N" 3 "D" ;
`;

const words = [
  'Speed',
  'Door',
  'Lock',
  'Temp',
  'Level',
  'Open',
  'Closed',
  'km',
  'mph',
  '%',
  'degC',
  '(1e300,0)',
  '64@1-',
];

/** Returns the messages whose identifier a frame can have, because log readers refuse other frames. */
function framed({ messages }: Database): readonly DbcMessage[] {
  return messages.filter(({ onBus }) => onBus).slice(0, 20);
}

/** Returns ten frames of each message, with payloads from the input, at irregular times, on two buses. */
function framesOf(
  input: Uint8Array,
  ids: readonly (readonly [id: number, length: number])[],
  first: number,
): FrameBatch {
  const batch = createBatch(10 * ids.length, 640 * ids.length);
  const payload = new Uint8Array(64);
  for (let i = 0; i < 10; i++) {
    for (const [index, [id, length]] of ids.entries()) {
      payload[i % 8] = input[(first + i * 7 + index) % Math.max(1, input.length)] ?? 0;
      const at = 1_700_000_000_000 + i * 100 + ((payload[0] as number) % 60) - (i === 7 ? 5_000 : 0);
      append(batch, index & 1, id, 0, at, payload, Math.min(64, i === 5 ? length >> 1 : length));
    }
  }
  return batch;
}

export const inspected: FuzzTarget = {
  name: 'inspect',
  seeds: () => texts(described),
  words,
  run(input) {
    const { database } = parseDbc(input, 'fuzz.dbc');
    const databases = [{ database }];
    const known = framed(database).map(({ id, length }) => [id, length] as const);
    const ids = [...known, [0x7ff, 8] as const, [0x81234567, 3] as const];
    const [one, other] = [framesOf(input, ids, 0), framesOf(input, ids, 31)];
    const [traffic, compared] = [new Traffic(), new Traffic()];
    const observer = new SignalObserver(databases);
    for (const consumer of [traffic, observer]) consumer.add(one, ['can0', 'can1']);
    compared.add(other, ['can0', 'can1']);
    const report = { traffic, databases, signals: observer.statistics, onlyChanged: false };
    for (const line of reportLines(report, 'ndjson', 80)) JSON.parse(line);
    const text = [1, 40, 200].flatMap((width) => [
      ...reportLines(report, 'text', width),
      ...comparisonLines(traffic, compared, databases, 'text', width),
    ]);
    if (text.some((line) => /\p{Cc}/u.test(line))) throw new Contradiction('a line with control characters');
    return database.messages.length > 0;
  },
};

export const suggested: FuzzTarget = {
  name: 'suggest',
  seeds: () => texts(described),
  words,
  run(input) {
    const file = scratchFile(input, 'car.dbc');
    const { database, diagnostics } = parseDbc(input, file);
    if (diagnostics.some(({ severity }) => severity === 'error')) return false;
    const databases = [{ database }];
    const observer = new SuggestionObserver(databases);
    const traffic = new Traffic();
    const frames = framesOf(
      input,
      framed(database).map(({ id, length }) => [id, length] as const),
      0,
    );
    for (const consumer of [observer, traffic]) consumer.add(frames, ['can0', 'can1']);
    const profile = file.replace(/car\.dbc$/, 'car.yaml');
    for (const logs of [undefined, { observer, traffic }]) {
      rmSync(profile, { force: true });
      if (writeSuggestions(profile, databases, logs).summary === undefined) continue;
      const errors = inspectVehicle(profile).diagnostics.filter(
        (one) => one.file === profile && one.severity === 'error',
      );
      const [first] = errors;
      if (first !== undefined) throw new Contradiction(`check refuses the profile: ${first.message}`);
    }
    return true;
  },
};
