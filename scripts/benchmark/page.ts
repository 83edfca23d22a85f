/** Inserts sections that were measured separately into the page of a whole run. */

/**
 * Returns the page with the sections of `measured` (texts by title). Each replaces the section with the same title, or
 * is inserted at its position in `order`.
 * @param order titles of all sections that a whole run writes, in order
 */
export function withSections(page: string, measured: ReadonlyMap<string, string>, order: readonly string[]): string {
  const [head = '', ...sections] = page.split(/^(?=## )/m);
  const titleOf = (section: string): string => section.slice('## '.length, section.indexOf('\n'));
  /** The table of targets is not a section, and comes first. */
  const rank = (title: string): number => order.indexOf(title);
  const texts = new Map(sections.map((section) => [titleOf(section), `${section.trimEnd()}\n`]));
  for (const [title, text] of measured) {
    if (rank(title) < 0) throw new Error(`the benchmark has no section ${title}`);
    texts.set(title, `${text.trimEnd()}\n`);
  }
  const sorted = [...texts].sort(([a], [b]) => rank(a) - rank(b));
  return [`${head.trimEnd()}\n`, ...sorted.map(([, text]) => text)].join('\n');
}
