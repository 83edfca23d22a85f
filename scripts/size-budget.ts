/**
 * Part of `npm run check`: prints the lines of code in each room, and fails if a room exceeds its entry in
 * `size-budget.json`. A commit that raises an entry must say how users benefit.
 */
import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import budget from './size-budget.json' with { type: 'json' };

/** Counts the lines of a TypeScript source, without blank lines and without lines that contain only comments. */
export function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
}

function sizeOf(room: string): number {
  const files = globSync(`${room}/**/*.{ts,tsx}`, { exclude: ['**/generated/**', '**/node_modules/**'] });
  return files.reduce((sum, file) => sum + linesOfCode(readFileSync(file, 'utf8')), 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sizes = Object.entries(budget).map(([room, most]) => ({ room, size: sizeOf(room), most }));
  const line = sizes.map(({ room, size }) => `${room} ${size}`).join(', ');
  process.stdout.write(`lines of code: ${line}\n`);
  for (const { room, size, most } of sizes) {
    if (size <= most) continue;
    process.stderr.write(
      `${room}/ has ${size} lines of code, its budget is ${most} (scripts/size-budget.json): remove some\n`,
    );
    process.exitCode = 1;
  }
}
