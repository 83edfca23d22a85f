/** Ends the exits to databases of a car that has stopped: they hand over all records that wait. */
import { join } from 'node:path';
import { SystemClock } from '../../adapters/clock/system.ts';
import { openStore } from '../../adapters/store/index.ts';
import { UnitRest } from '../../agent/power/rest.ts';
import { openNumberedExits } from '../../assembly/numbered-exits.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import { readingsFromTelemetry, type Telemetry } from '../../protocol/schema/telemetry.ts';
import { textOfReading } from './exported-readings.ts';
import { MemoryLog } from './log.ts';

/** Resolves with all readings that the car has recorded, sorted. @param file configuration of the car */
export async function handOver(file: string, data: string, vin: string): Promise<string[]> {
  const { configuration } = loadConfiguration(file, {});
  const exits = configuration?.exits;
  if (exits === undefined) throw new Error('the configuration has no exits');
  const store = await openStore(join(data, 'outbox'));
  const options = {
    clock: new SystemClock(),
    log: new MemoryLog(),
    rest: new UnitRest(),
    agent: { timeKnown: true },
  };
  const numbered = openNumberedExits({ ...options, configuration: exits, vin, store });
  await Promise.all(numbered.running.map((one) => one.poke()));
  await numbered.close();
  const readings = [...store.records.list('telemetry')].flatMap(({ record }) =>
    readingsFromTelemetry(record as Telemetry),
  );
  await store.close();
  return readings.map(({ slot, at, value }) => textOfReading(slot.path, at, shownValue(slot, value))).sort();
}
