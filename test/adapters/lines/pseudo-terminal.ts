/** A serial device for tests: socat joins a pseudo-terminal to a TCP server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface PseudoTerminal {
  /** Unplugs the device. */
  unplug(): Promise<void>;
}

/** Resolves when the device `path` exists and is joined to the server at `port`. */
export async function plugIn(path: string, port: number): Promise<PseudoTerminal> {
  const socat = spawn('socat', ['-d', '-d', `pty,raw,echo=0,link=${path}`, `TCP:127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(socat, 'exit');
  await joined(socat);
  return {
    unplug: async () => {
      socat.kill();
      await exited;
    },
  };
}

function joined(socat: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    socat.stderr?.on('data', (text: Buffer) => {
      said += text.toString();
      if (said.includes('starting data transfer')) resolve();
    });
    socat.once('exit', () => reject(new Error(`socat ended: ${said}`)));
  });
}
