/** Draws mutants that Stryker makes of some files, and bundles a program with all of them, activated one at a time. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundleWorlds } from '../../test/world/bundle.ts';
import { Chance } from '../../test/world/chance.ts';

interface Position {
  /** Zero-based line. */
  readonly line: number;
  readonly column: number;
}

interface Location {
  readonly start: Position;
  readonly end: Position;
}

/** The part of a type of `@stryker-mutator/api` that is used here. */
export interface StrykerMutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** `Ignored` means that the mutant is not in the source. */
  readonly status?: string;
  readonly location: Location;
}

interface SourceFile {
  readonly name: string;
  readonly content: string;
  /** True for the whole file, otherwise a list of ranges. */
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
/** The part of Stryker's logger that its instrumenter uses. */
const logger = { isDebugEnabled: () => false, debug: () => undefined, info: () => undefined, warn: console.warn };

/** A drawn mutant. A larger draw with the same seed starts with the same mutants. */
export interface DrawnMutant extends StrykerMutant {
  /** Position in the draw, from 1. */
  readonly place: number;
}

export interface DrawnMutants {
  /** Mutants in the order in which they were drawn. */
  readonly drawn: readonly DrawnMutant[];
  /** Number of mutants from which they were drawn. */
  readonly all: number;
  readonly program: string;
}

/** Draws mutants. `paths` are relative to the project. Strings are not mutated, since most are messages for people. */
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
  // Instrument again, but only the drawn places: thousands of switches would slow the simulated worlds down.
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
  // Not a dependency: like Stryker itself, only contributors who want mutants install it (CONTRIBUTING.md).
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
