/** Texts of a release: the manifest with its repository, the changelog with the date, the notes and the checksums. */
import { createHash } from 'node:crypto';

/** Heading of a version that is not yet released. */
const UNRELEASED = '## Unreleased: ';

/**
 * Returns the manifest with addresses of the repository that can be opened in a browser.
 * @throws Error if the repository's address is not of this kind
 */
export function withRepository(manifest: string, repository: string): string {
  const url = URL.canParse(repository) ? new URL(repository) : undefined;
  if (url?.protocol !== 'https:' || !/^\/[^/]+\/.*[^/]$/.test(url.pathname) || url.search + url.hash !== '') {
    throw new Error(`--repository ${repository}: give an address such as https://example.org/owner/vigie`);
  }
  const page = url.href.replace(/\.git$/, '');
  const { license, repository: _r, homepage: _h, bugs: _b, ...others } = JSON.parse(manifest);
  const members = Object.entries(others);
  const at = members.findIndex(([name]) => name === 'type');
  const added = {
    license,
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
  };
  const all = [...members.slice(0, at), ...Object.entries(added), ...members.slice(at)];
  return `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`;
}

/**
 * Returns the changelog with the date of the release in the heading of its newest version.
 * @throws Error if `version` is not the newest version
 */
export function withDate(changelog: string, version: string, day: string): string {
  const head = newestHead(changelog);
  if (head !== `${UNRELEASED}${version}`) {
    throw new Error(`CHANGELOG.md begins with "${head}": write "${UNRELEASED}${version}" above what is new`);
  }
  return changelog.replace(head, `## ${version} - ${day}`);
}

/** Returns the part of the changelog about its newest version, without the heading. */
export function notesOf(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## .*\n/m);
  return `${newest.trim()}\n`;
}

/** Returns checksums in the format of `sha256sum --check`. */
export function checksums(files: ReadonlyMap<string, Uint8Array>): string {
  return [...files]
    .map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`)
    .sort((one, other) => one.slice(64).localeCompare(other.slice(64), 'en'))
    .join('');
}

function newestHead(changelog: string): string {
  return /^## .*$/m.exec(changelog)?.[0] ?? '';
}
