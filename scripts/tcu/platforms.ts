/** Platforms of emulated units: a processor, Debian's kernel for it, and the matching executable. */
import { type PackageTarget, type TargetName, targetNamed } from '../package/targets.ts';

export interface Platform {
  readonly name: TargetName;
  readonly target: PackageTarget;
  /** Debian package that depends on the newest kernel. */
  readonly kernel: string;
  /** Emulator, its Debian package, and the emulated board and processor. */
  readonly emulator: string;
  readonly emulatedBy: string;
  readonly hardware: readonly string[];
  /** Suffix of the emulator's names for virtio devices, which depends on how the devices are attached. */
  readonly attached: 'device' | 'pci';
  /** Kernel parameters for the board: the serial line for the console, and settings for parts that the board lacks. */
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
    // The kernel's test of its timer fails if the emulator is not scheduled in time.
    told: 'console=ttyS0 no_timer_check',
  },
];

/** @throws Error if there is no platform with this name */
export function platformNamed(name: string): Platform {
  const found = platforms.find((platform) => platform.name === name);
  if (found === undefined) throw new Error(`"${name}" is no platform: ${platforms.map((one) => one.name).join(', ')}`);
  return found;
}
