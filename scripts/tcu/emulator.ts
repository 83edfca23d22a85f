/** An emulated machine of a platform, with Debian's kernel: the part that all such machines have in common. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Platform } from './platforms.ts';

export interface EmulatedMachine {
  readonly kernel: string;
  /** Path of the initial memory disk. */
  readonly memoryDisk: string;
  /** Kernel parameters in addition to those for the board. */
  readonly told: string;
  /** Further arguments of the emulator: disks, networks, shared folders. */
  readonly devices: readonly string[];
}

/** Starts the machine, whose console is on standard input and output. The machine stops when this process ends. */
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
      // On a slow emulated processor, the kernel's tests of ciphers may take ten minutes.
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
  // The machine may stop before it has read all input.
  machine.stdin.on('error', () => undefined);
  return machine;
}
