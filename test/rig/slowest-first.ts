import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders of the slowest files, slowest first: they start programs, wait for them, or simulate days. */
const SLOWEST = ['world', 'day', 'commands', 'docs', 'scripts', 'drives', 'assembly'].map((name) => `/test/${name}/`);

/**
 * Order of the test files: those of the slowest folders first, so that none runs alone at the end. Within a folder the
 * longest first, from the runner's records, or by size in a fresh clone.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = SLOWEST.findIndex((folder) => moduleId.includes(folder));
      return place < 0 ? SLOWEST.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
