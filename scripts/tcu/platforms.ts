/** The units that are emulated: a processor, Debian's kernel for it, and the executable made for it. */
import { type PackageTarget, type TargetName, targetNamed } from '../package/targets.ts';

export interface Platform {
  readonly name: TargetName;
  readonly target: PackageTarget;
  /** Debian's package that names the newest kernel. */
  readonly kernel: string;
  /** Emulator, Debian's package of it, and the board and processor it is to be. */
  readonly emulator: string;
  readonly emulatedBy: string;
  readonly hardware: readonly string[];
  /** How virtio's devices are attached, as the emulator's names of them end. */
  readonly attached: 'device' | 'pci';
  /** Parameters of the kernel for the board: the serial line of the console, and settings for missing parts. */
  readonly told: string;
}

const board = ['-smp', '2', '-m', '512'];
const arm = { emulatedBy: 'qemu-system-arm', attached: 'device', told: 'console=ttyAMA0' } as const;

export const platforms: readonly Platform[] = [
  {
    ...arm,
    name: 'arm64',
    target: targetNamed('arm64'),
    kernel: 'linux-image-arm64',
    emulator: 'qemu-system-aarch64',
    hardware: ['-M', 'virt', '-cpu', 'cortex-a72', ...board],
  },
  {
    ...arm,
    name: 'armv7',
    target: targetNamed('armv7'),
    kernel: 'linux-image-armmp',
    emulator: 'qemu-system-arm',
    hardware: ['-M', 'virt,highmem=off', '-cpu', 'cortex-a15', ...board],
  },
  {
    name: 'x64',
    target: targetNamed('x64'),
    kernel: 'linux-image-amd64',
    emulator: 'qemu-system-x86_64',
    emulatedBy: 'qemu-system-x86',
    hardware: ['-M', 'q35', '-cpu', 'max', ...board],
    attached: 'pci',
    // An emulator that has to wait for its turn fails the kernel's test of the timer.
    told: 'console=ttyS0 no_timer_check',
  },
];

/** @throws Error when there is none of that name */
export function platformNamed(name: string): Platform {
  const found = platforms.find((platform) => platform.name === name);
  if (found === undefined) throw new Error(`"${name}" is no platform: ${platforms.map((one) => one.name).join(', ')}`);
  return found;
}
