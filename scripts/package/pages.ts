/** The pages of the project as they lie in the package: in one folder, with links that lead somewhere there. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Where the package has the pages. */
export const PAGES = 'usr/share/doc/vigie';

/** Place in the package of every page and picture, by its path in the project. */
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

/** Sentence of a page about the folder in which npx works. */
const ABOUT_NPX =
  /\s(?:Type\sall\scommands\sof\sthis\spage|Work)\sin\sthe\sproject's\sfolder,\swhere\snpx\sfinds\s`vigie`\./g;

/**
 * A page whose links lead to places of the package; of a link to what the package does not have, the text stays, and
 * nothing of such a picture. Pages have readers of a checkout type `npx vigie`; the package puts `vigie` on the path.
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
