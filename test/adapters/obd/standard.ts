import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSignalSet, type SignalSet } from '../../../adapters/obd/index.ts';

const folder = fileURLToPath(new URL('../../../config/vehicles/generic-obd2/', import.meta.url));

/** A shipped signal set of the profile for any car. */
export function standard(name = 'sae-j1979.json'): SignalSet {
  return parseSignalSet(readFileSync(folder + name, 'utf8'), name);
}
