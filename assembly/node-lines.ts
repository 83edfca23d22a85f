/** Release lines of Node.js, and when the Node.js project ends their support. */

/**
 * By major version, the last day of support as YYYY-MM-DD: `end` in schedule.json of https://github.com/nodejs/Release
 * (commit 143dd650 of 2026-06-01).
 */
const supportEnds: Readonly<Record<number, string>> = {
  18: '2025-04-30',
  19: '2023-06-01',
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
  27: '2030-04-30',
};

/** Returns the last day of support of a version such as 24.21.0, as YYYY-MM-DD; undefined if its line is not listed. */
export function supportEnd(version: string): string | undefined {
  return supportEnds[Number.parseInt(version, 10)];
}

/** Returns a description of a version and the end of its support, at most 64 characters long. */
export function nodeName(version: string): string {
  const end = supportEnd(version);
  return end === undefined ? `Node ${version}` : `Node ${version}, supported by nodejs.org until ${end}`;
}
