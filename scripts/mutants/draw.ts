/** Draws mutants that Stryker makes of some files, and bundles a program that has them all, one switched on at a time. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundleWorlds } from '../../test/world/bundle.ts';
import { Chance } from '../../test/world/chance.ts';

interface Position {
  /** From 0 on. */
  readonly line: number;
  readonly column: number;
}

interface Location {
  readonly start: Position;
  readonly end: Position;
}

/** Part of `@stryker-mutator/api`. */
export interface StrykerMutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** `Ignored`: it is not in the source. */
  readonly status?: string;
  readonly location: Location;
}

interface SourceFile {
  readonly name: string;
  readonly content: string;
  /** Everywhere, or in these places. */
  readonly mutate: boolean | readonly Location[];
}

interface Instrumenter {
  instrument(
    files: readonly SourceFile[],
    options: object,
  ): Promise<{ readonly files: readonly SourceFile[]; readonly mutants: readonly StrykerMutant[] }>;
}

const VERSION = '10.1.1';
const PROGRAM = `
  import { liveThrough } from './mutant-worlds.ts';
  await liveThrough(Number(process.argv[2]));
`;
const root = resolve(import.meta.dirname, '../..');
/** Part of Stryker's logger that its instrumenter uses. */
const logger = { isDebugEnabled: () => false, debug: () => undefined, info: () => undefined, warn: console.warn };

/** A larger draw by the same seed begins with the same mutants. */
export interface DrawnMutant extends StrykerMutant {
  /** From 1 on. */
  readonly place: number;
}

export interface DrawnMutants {
  /** In the order in which they were drawn. */
  readonly drawn: readonly DrawnMutant[];
  /** Number of those that they were drawn from. */
  readonly all: number;
  readonly program: string;
}

/** `paths` are relative to the project. Texts are not changed: most of them are for people. */
export async function drawMutants(paths: readonly string[], count: number, seed: number): Promise<DrawnMutants> {
  const instrumenter = await instrumenterOf();
  const files = paths.map((path) => ({
    name: resolve(root, path),
    content: readFileSync(resolve(root, path), 'utf8'),
    mutate: true,
  }));
  const options = { plugins: null, ignorers: [], excludedMutations: ['StringLiteral'] };
  const left = (await instrumenter.instrument(files, options)).mutants.filter(({ status }) => status !== 'Ignored');
  const all = left.length;
  const chance = new Chance(`mutants ${seed}`);
  const drawn: StrykerMutant[] = [];
  while (drawn.length < count && left.length > 0) {
    drawn.push(left.splice(chance.below(left.length), 1)[0] as StrykerMutant);
  }
  // Once more, with switches at those places alone: thousands of them would make the worlds slow.
  const places = files.flatMap((file) => {
    const mutate = drawn.filter(({ fileName }) => fileName === file.name).map(({ location }) => location);
    return mutate.length === 0 ? [] : [{ ...file, mutate }];
  });
  const switched = await instrumenter.instrument(places, options);
  const sources = new Map(switched.files.map(({ name, content }) => [name, content]));
  const order = new Map(drawn.map((mutant, index) => [keyOf(mutant), index + 1]));
  return {
    drawn: switched.mutants
      .flatMap((mutant) => {
        const place = order.get(keyOf(mutant));
        return place === undefined ? [] : [{ ...mutant, place }];
      })
      .sort((one, other) => one.place - other.place),
    all,
    program: await bundleWorlds(PROGRAM, (path) => sources.get(path)),
  };
}

function keyOf({ fileName, mutatorName, location, replacement }: StrykerMutant): string {
  return JSON.stringify([fileName, mutatorName, location, replacement]);
}

async function instrumenterOf(): Promise<Instrumenter> {
  // Not a dependency: as Stryker itself, it is installed when somebody wants mutants (CONTRIBUTING.md).
  const name: string = '@stryker-mutator/instrumenter';
  try {
    const { Instrumenter: Made } = (await import(name)) as { readonly Instrumenter: new (log: object) => Instrumenter };
    return new Made(logger);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(`${name} is not installed: npm install --no-save ${name}@${VERSION}`);
    process.exit(2);
  }
}
