/** A machine of a platform, with Debian's kernel, that is emulated: what every one of them has in common. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Platform } from './platforms.ts';

export interface EmulatedMachine {
  readonly kernel: string;
  /** The initial memory disk. */
  readonly memoryDisk: string;
  /** Further parameters of the kernel, in addition to those of the board. */
  readonly told: string;
  /** Further arguments of the emulator: disks, networks, views of files. */
  readonly devices: readonly string[];
}

/** Switches it on, its console on standard input and output. It goes off with this process. */
export function switchOn(
  { emulator, hardware, told: needed }: Platform,
  { kernel, memoryDisk, told, devices }: EmulatedMachine,
): ChildProcessByStdio<Writable, Readable, null> {
  const machine = spawn(
    emulator,
    [
      ...hardware,
      '-kernel',
      kernel,
      '-initrd',
      memoryDisk,
      // Tests of the kernel's own ciphers may hold a slow emulated processor for ten minutes.
      '-append',
      `${needed} quiet loglevel=1 panic=-1 cryptomgr.notests ${told}`,
      ...devices,
      '-nographic',
      '-no-reboot',
      '-monitor',
      'none',
      '-serial',
      'stdio',
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const end = (): void => void machine.kill('SIGKILL');
  process.once('exit', end);
  machine.once('exit', () => process.off('exit', end));
  // It may go off before it has read all of it.
  machine.stdin.on('error', () => undefined);
  return machine;
}
