import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import { readDbc } from '../assembly/vehicle.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/**
 * Reads a network description for a command. Writes warnings to standard error.
 * @throws VigieError `configuration.wrong` if the description has errors; writes them to standard error first
 */
export function loadDbc(file: string): BoundDatabase {
  const { database, diagnostics } = readDbc(file);
  complain(diagnostics.filter((diagnostic) => diagnostic.severity !== 'info'));
  if (database === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new VigieError('configuration.wrong', 'the DBC cannot be used', { where: file });
  return { database };
}
