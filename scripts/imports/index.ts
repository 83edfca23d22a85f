/** Part of `npm run check`: prints each import that the table of rooms (rules.ts) refuses, and each cycle. */
import { globSync, readFileSync } from 'node:fs';
import { importFaults, SOURCES } from './checker.ts';

const paths = globSync(SOURCES, { exclude: ['**/generated/**', '**/node_modules/**', 'scripts/library/not*/**'] });
const faults = importFaults(new Map(paths.sort().map((path) => [path, readFileSync(path, 'utf8')])));
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
