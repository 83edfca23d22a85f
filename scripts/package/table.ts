/** Table of the executables in docs/packaging.md. */
import manifest from '../../package.json' with { type: 'json' };
import { withSection } from '../generated-section.ts';
import { carriedNode } from './support.ts';
import { type PackageTarget, targets } from './targets.ts';

export const PAGE = 'docs/packaging.md';

/** Files that were made for one architecture, with their sizes in bytes. */
export interface MadeExecutable {
  readonly executable: number;
  readonly debian: number;
  /** Startup time in ms, the shortest of several. */
  readonly start: number;
}

/** Returns the first columns of a target's row, up to those that are measured. */
export function rowOf({ name, node }: PackageTarget): string {
  return `| \`vigie-linux-${name}\` | ${carriedNode(node.version)} | \`@yao-pkg/pkg\` ${manifest.devDependencies['@yao-pkg/pkg']} |`;
}

/** Returns the page with these figures. `made` contains all targets. */
export function pageWith(made: ReadonlyMap<PackageTarget, MadeExecutable>): string {
  const rows = targets.map((target) => {
    const one = made.get(target);
    if (one === undefined) throw new Error(`${target.name} was not made`);
    const emulated = target.arch === process.arch ? '' : ' under emulation';
    const cells = [megabytes(one.executable), megabytes(one.debian), `${Math.round(one.start)} ms${emulated}`];
    return `${rowOf(target)} ${cells.join(' | ')} |`;
  });
  const head = ['| executable | Node | made by | plain | `.deb` | start |', '| --- | --- | --- | ---: | ---: | ---: |'];
  return withSection(PAGE, 'executables', `${[...head, ...rows].join('\n')}\n`, 'package -- --write');
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
