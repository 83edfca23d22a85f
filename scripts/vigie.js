#!/usr/bin/env node
// The entry of `npx vigie` and `npm start`: runs main.ts on a Node that strips types, the project's own where the
// machine's is older. Plain JavaScript, because the Node that reads this line may be that older one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const main = new URL('../main.ts', import.meta.url);

// Types are stripped without a flag from 22.18 on, in the line of 23 from 23.6 on.
if (major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) {
  await import(main.href);
} else {
  const own = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `vigie: needs Node 22.18 or newer, this is ${process.versions.node}. Run \`npm ci\` in the project: it brings its own for Linux on x86_64 and arm64.`,
    );
    process.exit(2);
  }
  const child = spawn(own, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal signals the whole group; a signal sent to this process alone is passed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`vigie: ${own} cannot be started: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
