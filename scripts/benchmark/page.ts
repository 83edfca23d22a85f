/** Puts sections that were measured by themselves into the page of a whole run. */

/**
 * The page with each section of `measured`, text by title, in the place of the one with its title, or where `order` has it.
 * @param order titles of all sections that a whole run writes
 */
export function withSections(page: string, measured: ReadonlyMap<string, string>, order: readonly string[]): string {
  const [head = '', ...sections] = page.split(/^(?=## )/m);
  const titleOf = (section: string): string => section.slice('## '.length, section.indexOf('\n'));
  /** The table of targets is no section of its own, and comes first. */
  const rank = (title: string): number => order.indexOf(title);
  const texts = new Map(sections.map((section) => [titleOf(section), `${section.trimEnd()}\n`]));
  for (const [title, text] of measured) {
    if (rank(title) < 0) throw new Error(`the benchmark has no section ${title}`);
    texts.set(title, `${text.trimEnd()}\n`);
  }
  const sorted = [...texts].sort(([a], [b]) => rank(a) - rank(b));
  return [`${head.trimEnd()}\n`, ...sorted.map(([, text]) => text)].join('\n');
}
