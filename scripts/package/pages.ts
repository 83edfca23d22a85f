/** The pages of the project in the form in which the package stores them: in one folder, with links that work there. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Folder of the pages in the package. */
export const PAGES = 'usr/share/doc/vigie';

/** Returns the path in the package of every page and picture, by path in the project. */
export function pagePlaces(root: string): ReadonlyMap<string, string> {
  const docs = readdirSync(join(root, 'docs'))
    .filter((name) => /\.(md|svg)$/.test(name))
    .sort();
  return new Map([
    ...docs.map((name) => [`docs/${name}`, `${PAGES}/${name}`] as const),
    ['README.md', `${PAGES}/README.md`],
    ['SECURITY.md', `${PAGES}/SECURITY.md`],
    ['config/generated/status-paths.md', `${PAGES}/status-paths.md`],
  ]);
}

/** Sentences on the pages about the folder in which npx works. */
const ABOUT_NPX =
  /\s(?:Type\sall\scommands\sof\sthis\spage|Work)\sin\sthe\sproject's\sfolder,\swhere\snpx\sfinds\s`vigie`\./g;

/**
 * Returns a page whose links lead to paths in the package. A link whose target is missing is replaced by its text, and
 * a picture that is missing is removed. Pages tell users of a checkout to run `npx vigie`; with the package, `vigie` is
 * on the path.
 */
export function pageIn(root: string, page: string, places: ReadonlyMap<string, string>): string {
  const text = readFileSync(join(root, page), 'utf8').replaceAll('npx vigie', 'vigie').replaceAll(ABOUT_NPX, '');
  return text.replace(/(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)/g, (link, picture, words, target, anchor = '') => {
    if (target === '' || /^[a-z]+:/.test(target)) return link;
    const place = places.get(join(dirname(page), target));
    if (place === undefined) return picture === '' ? words : '';
    return `${picture}[${words}](${relative(dirname(places.get(page) as string), place)}${anchor})`;
  });
}
