/** Requests every route of a server, and computes the expected access by a simple reading of the table. */
import { type AccessRow, accessTable } from '../../protocol/interface/access.ts';
import { bases, type Side } from '../../protocol/interface/operation.ts';
import { scopeNames } from '../../protocol/interface/operations/scopes.ts';
import { factsOf, releases } from '../protocol/interface/published/facts.ts';

export interface MatrixAnswer {
  readonly row: AccessRow;
  readonly status: number;
  /** Empty for streams, which the client leaves at once. */
  readonly text: string;
}

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const rowKey = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** The path with known ids. Parameters of missing resources get ids that do not exist. */
export function addressOf({ path }: AccessRow, ids: Readonly<Record<string, string>>): string {
  const aid = path.includes('/alarms/') ? 'aa04' : 'aa02';
  const cid = path.includes('/collisions/') ? 'aa03' : 'ab12';
  const known: Readonly<Record<string, string>> = { aid, cid, ...ids };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(known[name] ?? 'ab12'));
}

const AT_ONCE = 8;

/** Requests all routes without a body. A change is then refused for its form if not for missing rights. */
export async function askAll(
  rows: readonly AccessRow[],
  requestOf: (row: AccessRow) => Request,
): Promise<readonly MatrixAnswer[]> {
  const answers: MatrixAnswer[] = [];
  const left = [...rows];
  const work = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) answers.push(await askOne(row, requestOf(row)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

async function askOne(row: AccessRow, { url, headers }: Request): Promise<MatrixAnswer> {
  const response = await fetch(url, { method: row.method, headers, redirect: 'manual' });
  if (response.headers.get('content-type') === 'text/event-stream') {
    await response.body?.cancel();
    return { row, status: response.status, text: '' };
  }
  return { row, status: response.status, text: await response.text() };
}

/** Whether scopes are enough for a row, by the meaning of Required and Optional in interface 4.17.2. */
export function holds({ scopes }: AccessRow, held: ReadonlySet<string>): boolean {
  const { required, optional, more } = scopes;
  if (required.some((scope) => !held.has(scope))) return false;
  if (required.length > 0) return true;
  if (more === true) return scopeNames.some((scope) => held.has(scope));
  return optional.length === 0 || optional.some((scope) => held.has(scope));
}

/** Expected access at a hub for a token of the fleet, or of the user, to which the car of the path belongs. */
export function expectedOf(row: AccessRow, kind: Side, held: ReadonlySet<string>): 'admitted' | 'refused' {
  if (kind === 'fleet' && row.principal === 'user') return 'refused';
  if (kind === 'user' && row.path.includes('{fid}')) return 'refused';
  return holds(row, held) ? 'admitted' : 'refused';
}

/** Rows of the published operations of a side, with the published scopes. */
export function published(side: Side): readonly { readonly row: AccessRow; readonly scopes: readonly string[] }[] {
  return factsOf(releases[side]).operations.map(({ method, path, scopes }) => {
    const row = accessTable.find((one) => one.method === method && one.path === `${bases[side]}${path}`);
    if (row === undefined) throw new Error(`${method} ${path} is published and has no row`);
    return { row, scopes };
  });
}
