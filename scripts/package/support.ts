/** End of support of the Node in each executable, and what docs/packaging.md says about it. */
import { supportEnd } from '../../assembly/node-lines.ts';
import type { PackageTarget } from './targets.ts';

/** Returns the version of an included Node with its end of support, for the table on the page. */
export function carriedNode(version: string): string {
  return `${version}, supported until ${supportEnd(version) ?? 'an unknown date'}`;
}

/**
 * Returns the faults that forbid an executable on the day `now` (UTC): an included Node is past its end of support and
 * the page does not say so, or its end of support is unknown. The table on the page does not count as such a statement,
 * since it also lists end dates in the future.
 */
export function unsupportedNodes(
  wanted: readonly Pick<PackageTarget, 'name' | 'node'>[],
  now: Date,
  page: string,
): readonly string[] {
  const today = now.toISOString().slice(0, 10);
  const text = page.replaceAll(/\s+/g, ' ');
  return wanted.flatMap(({ name, node: { version } }) => {
    const end = supportEnd(version);
    if (end === undefined)
      return [`the end of support of Node ${version} is unknown: add it to assembly/node-lines.ts`];
    const statement = `The ${name} executable carries Node ${version}, whose support ended on ${end}`;
    return today <= end || text.includes(statement) ? [] : [statement];
  });
}
