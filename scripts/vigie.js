#!/usr/bin/env node
// The entry of `npx vigie` and `npm start`: runs main.ts on a Node that strips types, the project's own where the
// machine's is older. Plain JavaScript, because the Node that reads this line may be that older one.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const main = new URL('../main.ts', import.meta.url);

if (major > 22 || (major === 22 && minor >= 18)) {
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
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}
