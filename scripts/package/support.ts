/** End of support of the Node in each executable, and its text in docs/packaging.md. */
import { supportEnd } from '../../assembly/node-lines.ts';
import type { PackageTarget } from './targets.ts';

/** A carried Node with the end of its support, for the table of the page. */
export function carriedNode(version: string): string {
  return `${version}, supported until ${supportEnd(version) ?? 'an unknown date'}`;
}

/**
 * The faults for which no executable may be made on the day `now` (UTC): a carried Node is past its support, and the page
 * does not state it, or its end of support is unknown. The table of the page alone is no statement: it also names the end of
 * a support that lasts.
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
