/** A reader at a terminal, in a separate folder, with `vigie` on the path. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { program } from '../rig/bench.ts';
import type { Typed } from './page.ts';

/** Time limit of a command, ms. Commands of the pages take a second or two on an idle machine. */
const PATIENCE = 45_000;

export interface Ended {
  readonly status: number | null;
  /** Standard output and standard error as a terminal shows them. */
  readonly output: string;
}

export class Shell {
  readonly folder: string;
  readonly #path: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'vigie-page-'));
    // Replaces `npx vigie`, without npm and the launcher: the program that all tests start.
    const bin = join(this.folder, '.bin');
    mkdirSync(bin);
    const scripts = { vigie: `exec node '${program}' "$@"`, npx: 'exec "$@"' };
    for (const [name, line] of Object.entries(scripts)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    }
    this.#path = [bin, dirname(process.execPath), process.env['PATH']].join(':');
  }

  /** Links a file of the project under a name in the folder. */
  link(name: string, target: string): void {
    symlinkSync(target, join(this.folder, name));
  }

  /**
   * Types a command. A command with `Ctrl-C` in its comment runs until it is interrupted, which happens as soon as it
   * has printed something.
   */
  type({ text, comment }: Typed): Promise<Ended> {
    const endless = comment.includes('Ctrl-C');
    return new Promise((resolve, reject) => {
      // One pipe for both, like on a terminal: two pipes would lose the order.
      const child = spawn('sh', ['-c', endless ? text : `exec 2>&1\n${text}`], {
        cwd: this.folder,
        env: { ...process.env, PATH: this.#path, HOME: this.folder },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A separate process group, like on a terminal: the signal reaches the whole pipeline.
        detached: true,
      });
      let output = '';
      const signal = (name: NodeJS.Signals): void => {
        // The process may have ended already.
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
      };
      const patience = setTimeout(() => {
        output += `\n(not done after ${PATIENCE / 1000} s)`;
        signal('SIGKILL');
      }, PATIENCE);
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (part: string) => {
          output += part;
          if (endless && stream === child.stdout) signal('SIGINT');
        });
      }
      child.on('error', reject);
      child.on('close', (code, ended) => {
        clearTimeout(patience);
        // The shell reports 128 plus the signal number for a command that Ctrl-C ended.
        resolve({ status: endless && (ended === 'SIGINT' || code === 130) ? 0 : code, output });
      });
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
