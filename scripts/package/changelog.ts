/** Debian changelog (deb-changelog(5)), generated from the project's changelog. */

const WIDTH = 80;

/** Returns the items of the newest version as one entry. */
export function debianChangelog(changes: string, version: string, maintainer: string, date: Date): string {
  const [newest = ''] = changes.split(/^## /m).slice(1);
  const items = newest.split(/^- /m).slice(1);
  if (items.length === 0) throw new Error('CHANGELOG.md: the newest version has no items');
  const wrapped = items.map((item) => wrap(plain(item)));
  // Date as in RFC 5322, in UTC.
  const when = date.toUTCString().replace('GMT', '+0000');
  return `vigie (${version}) unstable; urgency=medium\n\n${wrapped.join('\n')}\n\n -- ${maintainer}  ${when}\n`;
}

/** Returns an item as one line without Markdown marks. The item ends at the next heading. */
function plain(item: string): string {
  const [own = ''] = item.split(/^#/m);
  return own
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function wrap(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line !== '' && line.length + word.length + 5 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line, i) => `${i === 0 ? '  * ' : '    '}${line}`).join('\n');
}
