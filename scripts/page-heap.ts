/**
 * `npm run page-heap`: measures the memory of a page that stays open: the heap of each view after a forced collection
 * at 5 and at 15 minutes, in real time. `npm run page-heap -- EARLY LATE VIEW …` selects other minutes, and views by
 * the start of their names. Measures views of a real bench and of a real hub, and the view of the car with 300 values
 * that change ten times a second, as often as the interface sends changes.
 */
import type { CDPSession, Page } from 'playwright-core';
import { kilobytes, launch, openFeed, startBench, startFeed, VALUES } from './page-feed.ts';

const [early = 5, late = 15] = process.argv.slice(2, 4).map(Number);
const wanted = process.argv.slice(4);
const MINUTE = 60_000;
/** Number of changes of the simulated values per second. */
const RATE = 10;
/** VIN of a car of the hub. */
const CAR = 'VF3VGEBENCH000001';
/**
 * Number of collections, of which the smallest heap counts: the debugger that requests the collections leaves a varying
 * number of objects.
 */
const COLLECTIONS = 5;

/** Sizes in bytes. */
interface Sizes {
  /** Used heap after a forced collection, as reported by V8. */
  readonly used: number;
  /** Part that the page's script can reach, which is the memory that the script retains. */
  readonly kept: number;
  /**
   * Compiled code of scripts. V8 compiles and optimises it again if it runs often, so it is not data, and the page does
   * not control it.
   */
  readonly code: number;
}

interface Measured {
  readonly name: string;
  readonly session: CDPSession;
  readonly sizes: Sizes[];
}

const browser = await launch();
const feed = await startFeed();
const bench = await startBench();
const hub = await startBench('--cars', '5');
const measured: Measured[] = [];

/** Opens each view in a separate browser process, so that its heap belongs to one page. */
async function open(name: string, show: (page: Page) => Promise<unknown>): Promise<void> {
  if (wanted.length > 0 && !wanted.some((one) => name.startsWith(one))) return;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  // A busy machine must not make this fail.
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  await show(page);
  measured.push({ name, session: await context.newCDPSession(page), sizes: [] });
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
}

async function used({ session }: Measured): Promise<number> {
  const sizes: number[] = [];
  for (let round = 0; round < COLLECTIONS; round++) {
    await session.send('HeapProfiler.collectGarbage');
    sizes.push((await session.send('Runtime.getHeapUsage')).usedSize);
  }
  return Math.min(...sizes);
}

/** Measures a snapshot, which collects garbage first. */
async function reachable({ session }: Measured): Promise<Omit<Sizes, 'used'>> {
  const chunks: string[] = [];
  const take = ({ chunk }: { readonly chunk: string }): void => void chunks.push(chunk);
  session.on('HeapProfiler.addHeapSnapshotChunk', take);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', take);
  const { snapshot, nodes } = JSON.parse(chunks.join('')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let [kept, code] = [0, 0];
  for (let node = 0; node < nodes.length; node += fields.length) {
    const bytes = nodes[node + size] as number;
    const name = types[0][nodes[node + type] as number];
    if (name === 'code') code += bytes;
    // Native memory is part of the DOM, which is outside the heap of the script.
    else if (name !== 'native') kept += bytes;
  }
  return { kept, code };
}

async function measure(): Promise<void> {
  for (const one of measured) one.sizes.push({ used: await used(one), ...(await reachable(one)) });
}

const sending = setInterval(() => feed.send(), 1_000 / RATE);
await open(`${VALUES} values at ${RATE} Hz`, (page) => openFeed(page, feed));
for (const view of ['car', 'commands', 'wire', 'journey']) {
  await open(view, async (page) => {
    await page.goto(`${bench.url}/#${view}`);
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  });
}
await open('bus with a plot', async (page) => {
  await page.goto(`${bench.url}/#bus`);
  await page.getByRole('row', { name: /0x0A8 MOTION/ }).click();
  await page.getByRole('button', { name: 'Plot Speed' }).click();
});
for (const [name, hash] of [
  ['hub', ''],
  ...['car', 'journey', 'commands', 'wire'].map((view) => [`hub ${view}`, `#cars/${CAR}/${view}`] as const),
] as const) {
  await open(name, async (page) => {
    await page.goto(`${hub.url}/${hash}`);
    await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  });
}
const begin = performance.now();
for (const minutes of [early, late]) {
  await new Promise((resolve) => setTimeout(resolve, begin + minutes * MINUTE - performance.now()));
  await measure();
}
clearInterval(sending);
for (const { name, sizes } of measured) {
  const [first, last] = sizes;
  if (first === undefined || last === undefined) continue;
  console.log(
    `heap, ${name}: kept ${growthOf(first.kept, last.kept)}; ` +
      `compiled ${growthOf(first.code, last.code)}; used ${growthOf(first.used, last.used)}`,
  );
}
feed.close();
await browser.close();
await bench.end();
await hub.end();

function growthOf(first: number, last: number): string {
  const growth = ((last / first - 1) * 100).toFixed(1);
  return `${kilobytes(first)} after ${early} min, ${kilobytes(last)} after ${late} min (${growth} %)`;
}
