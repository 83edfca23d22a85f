import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders of the slowest files, first the slowest: they start programs, wait for them, or live through days. */
const SLOWEST = ['world', 'day', 'commands', 'docs', 'scripts', 'drives', 'assembly'].map((name) => `/test/${name}/`);

/**
 * Order of the test files: those of the slowest folders first, so that none of them runs alone at the end. Within a folder
 * the longest first, as the runner remembers or guesses from the size: a fresh clone remembers nothing.
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
