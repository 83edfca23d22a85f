/**
 * Files that the readers of a page already have: recordings and configurations that the page mentions and does not
 * create.
 */
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDrive } from '../../scripts/benchmark/drive-log.ts';

const vehicles = fileURLToPath(new URL('../../config/vehicles/', import.meta.url));

/** One sentence of a GNSS receiver, with its checksum (NMEA 0183 §6.1). */
const fix = '$GPRMC,081836,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E*62\r\n';
/** Output of an ELM327 for a speed request (SAE J1979 service 01, parameter 0D: 60 km/h). */
const answer = `${JSON.stringify({ command: '010D', response: '7E8 03 41 0D 3C' })}\n`;

const brought: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'README.md': async (folder) => {
    await writeDrive(2_000, join(folder, 'drive.log'));
    copyFileSync(join(vehicles, 'bench/bench.dbc'), join(folder, 'car.dbc'));
    symlinkSync(join(vehicles, 'bench'), join(folder, 'my-car'));
    copyFileSync(join(vehicles, 'generic-obd2/sae-j1979.json'), join(folder, 'default.json'));
    writeFileSync(join(folder, 'walk.nmea'), fix);
    writeFileSync(join(folder, 'answers.ndjson'), answer);
  },
  'docs/inspect.md': async (folder) => {
    await writeDrive(20_000, join(folder, 'drive.log'));
    copyFileSync(join(vehicles, 'bench/bench.dbc'), join(folder, 'car.dbc'));
  },
};

/** Puts the files into the reader's folder. */
export async function bring(page: string, folder: string): Promise<void> {
  await brought[page]?.(folder);
}
