#!/usr/bin/env node
// Entry point of `npx vigie` and `npm start`. In a clone it runs the bundle of `npm run bundle` if it is as new as the
// sources, else main.ts, whose types Node strips; on the project's own Node if the machine's is too old. Plain
// JavaScript, because that older Node must be able to read this file.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import * as modules from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
// Types are stripped without a flag from 22.18 on, and in release line 23 from 23.6 on.
const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);

const bundle = new URL('../dist/', import.meta.url);
// The npm package contains no sources.
const packed = !existsSync(new URL('../main.ts', import.meta.url));

if (packed && major < 22) {
  console.error(`vigie: needs Node 22 or newer, this is ${process.versions.node}.`);
  process.exitCode = 2;
} else if (packed || strips) {
  if (packed || isCurrent(bundle)) {
    // Compiled code is cached next to the bundle. If that folder is not writable, the code is compiled at every start.
    modules.enableCompileCache?.(fileURLToPath(new URL('compiled', bundle)));
    const program = new URL('main.mjs', bundle);
    if (existsSync(program)) await import(program.href);
    else {
      console.error('vigie: this package has no program. Build it before packing it: npm run library && npm pack');
      process.exitCode = 2;
    }
  } else {
    await import(new URL('../main.ts', import.meta.url).href);
  }
} else {
  const own = fileURLToPath(new URL(`../node_modules/node-linux-${process.arch}/bin/node`, import.meta.url));
  if (!existsSync(own)) {
    console.error(
      `vigie: needs Node 22.18 or newer, this is ${process.versions.node}. Run \`npm ci\` in the project: it brings its own for Linux on x86_64 and arm64.`,
    );
    process.exit(2);
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal signals the whole process group; forward signals sent to this process alone.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`vigie: ${own} cannot be started: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

/** Returns true if a bundle exists and none of its sources is newer or missing. */
function isCurrent(bundle) {
  try {
    const made = statSync(new URL('sources.json', bundle)).mtimeMs;
    const sources = JSON.parse(readFileSync(new URL('sources.json', bundle), 'utf8'));
    return sources.every((file) => statSync(new URL(`../${file}`, bundle)).mtimeMs <= made);
  } catch {
    return false;
  }
}
