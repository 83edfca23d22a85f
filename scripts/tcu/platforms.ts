/** The units that are emulated: a processor, Debian's kernel for it, and the executable made for it. */
import { type Target, targetNamed } from '../package/targets.ts';

export interface Platform {
  readonly name: 'arm64' | 'armv7';
  readonly target: Target;
  /** Debian's package that names the newest kernel. */
  readonly kernel: string;
  /** Emulator of Debian's qemu-system-arm, and the board and processor it is to be. */
  readonly emulator: string;
  readonly hardware: readonly string[];
}

const board = ['-smp', '2', '-m', '512'];

export const platforms: readonly Platform[] = [
  {
    name: 'arm64',
    target: targetNamed('arm64'),
    kernel: 'linux-image-arm64',
    emulator: 'qemu-system-aarch64',
    hardware: ['-M', 'virt', '-cpu', 'cortex-a72', ...board],
  },
  {
    name: 'armv7',
    target: targetNamed('armv7'),
    kernel: 'linux-image-armmp',
    emulator: 'qemu-system-arm',
    hardware: ['-M', 'virt,highmem=off', '-cpu', 'cortex-a15', ...board],
  },
];
