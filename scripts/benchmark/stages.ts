/** How the processing time of a frame is distributed over the parts of the agent, according to a profiler's samples. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { figure } from './contest.ts';
import type { Table } from './section.ts';

const root = new URL('../../', import.meta.url).href;

/** Files of each part of the agent. The first expression that matches a file counts. */
export const parts: readonly (readonly [name: string, file: RegExp])[] = [
  ['reading the log', /^adapters\/can\/log\//],
  ['decoding', /^adapters\/can\//],
  [
    'readings to values: scale, range, sources, privacy',
    /^agent\/model\/(mapping|target|position|privacy|column-intake)/,
  ],
  ['Status and channels: what changed', /^agent\/model\/(status|channels)/],
  ['trips', /^agent\/recorders\/trip/],
  ['collisions', /^agent\/recorders\/collision/],
  ['alerts, alarms, maintenance, waypoints', /^agent\/recorders\/(alert|alarm|maintenance|theft|waypoint)/],
  ['telemetry: readings gathered, columns', /^agent\/recorders\/telemetry|^protocol\/(columns|schema\/telemetry)/],
  ['the published Status, as an object', /^agent\/recorders\/status|^protocol\/slot/],
  ['monitors', /^agent\/monitors/],
  ['messages: CBOR, deflate', /^protocol\/cbor|^assembly\/deflate/],
  ['outbox, records, store', /^agent\/(outbox\/|records\.ts)|^adapters\/store/],
  ['the tick, the clock, readings that were refused', /^agent\/|^adapters\/clock|^commands\//],
];
/** Sampling interval in µs. If an interval is longer, another program was running. */
const INTERVAL = 200;
const COLLECTOR = 'collecting garbage';
const START = 'start: loading the program and the profile, until the first frame';
const OTHER = 'Node and the compiler';

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** Returns a table of the profile of one replay, which runs from the sources: file names identify the parts. */
export async function stagesOf(log: string, frames: number, vehicle: string, scratch: string): Promise<Table> {
  const folder = join(scratch, 'profile');
  mkdirSync(folder);
  const main = fileURLToPath(new URL('main.ts', root));
  const profiler = ['--cpu-prof', '--cpu-prof-interval', String(INTERVAL), '--cpu-prof-dir', folder];
  await promisify(execFile)(process.execPath, [
    ...profiler,
    main,
    'replay',
    log,
    '--profile',
    vehicle,
    '--cbor',
    '/dev/null',
  ]);
  const [file = ''] = readdirSync(folder);
  const times = timesOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile);
  const running = [...times].filter(([part]) => part !== START);
  const total = running.reduce((sum, [, time]) => sum + time, 0);
  const rows = running
    .sort(([, a], [, b]) => b - a)
    .map(([part, time]) => [part, figure((time * 1000) / frames), `${figure((time / total) * 100)} %`]);
  return {
    title: 'Where the time of a frame goes',
    columns: ['part', 'ns a frame', 'of the whole'],
    rows: [...rows, ['**all**', figure((total * 1000) / frames), '']].map((cells) => ({ cells })),
    notes: [
      'The samples of V8’s profiler in one replay from the sources, with the profiler’s own cost; a sample belongs to the part of the agent whose function is nearest to it.',
      `${START}: ${figure((times.get(START) ?? 0) / 1000)} ms, types stripped included.`,
    ],
  };
}

/** Returns the time of each part in µs. */
export function timesOf({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const parents = new Map<number, ProfileNode>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const known = new Map(nodes.map((node): [number, string] => [node.id, partOf(node, parents)]));
  const times = new Map<string, number>();
  for (const [i, sample] of samples.entries()) {
    const part = known.get(sample) ?? OTHER;
    times.set(part, (times.get(part) ?? 0) + Math.min(timeDeltas[i] ?? 0, 2 * INTERVAL));
  }
  return times;
}

function partOf(leaf: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  if (leaf.callFrame.functionName === '(garbage collector)') return COLLECTOR;
  const files: string[] = [];
  for (let node: ProfileNode | undefined = leaf; node !== undefined; node = parents.get(node.id)) {
    const { url } = node.callFrame;
    if (url.startsWith(root)) files.push(url.slice(root.length));
  }
  // Time in the codec or in the columns counts for these, whichever part calls them.
  const found = files
    .map((file) => parts.find(([, pattern]) => pattern.test(file))?.[0])
    .find((part) => part !== undefined);
  const starting = files.some((file) => /^(config|assembly\/vehicle|protocol\/profile)|^main/.test(file));
  if (starting && !files.some((file) => /^agent\/agent/.test(file))) return START;
  return found ?? (leaf.callFrame.functionName === '(program)' || files.length > 0 ? OTHER : START);
}
