/** The software bill of materials that packages contain (scripts/package/sbom.ts). */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VigieError } from '../protocol/errors.ts';

/**
 * Prints the bill of materials of this program.
 * @throws VigieError if the program is not a package, for example a clone of the project
 */
export function printSbom(): void {
  const address: string | undefined = import.meta.url;
  const here = address === undefined ? dirname(process.execPath) : dirname(fileURLToPath(address));
  const file = join(here, 'documents/sbom.cdx.json');
  if (!existsSync(file)) {
    throw new VigieError(
      'usage.wrong',
      'this program is not a package and carries no bill of materials: `npm run sbom` writes those of the packages',
    );
  }
  process.stdout.write(readFileSync(file, 'utf8'));
}
