/**
 * `npm run page-cost`: prints the cost of the page in a browser, without a verdict, because machines differ. It
 * measures for a minute: times on a real bench, and the main thread with 300 values that change 60 times a second, from
 * a trace. Measuring the heap needs an hour: page-heap.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Locator, Page } from 'playwright-core';
import { pageFiles } from '../adapters/http/documents.ts';
import { generated, kilobytes, launch, openFeed, startBench, startFeed, VALUES } from './page-feed.ts';

const ROUNDS = 21;
/** Delay in ms between two clicks: the car refuses more than 10 commands of a kind within 10 s. */
const PAUSE = 1_100;
const RATE = 60;
/** Duration of the trace in s. */
const TRACED = 10;

const browser = await launch();
const sizes = pageFiles.map(([file]) => gzipSync(readFileSync(join(generated, file))).length);
console.log(`gzipped: ${kilobytes(sum(sizes))}`);
await measureTimes(browser);
await measureThread(browser);
await browser.close();

/**
 * Measures the time from a click to the change in the car, and from there to the page. All three times are by this
 * machine's clock: the page sees the click and the new words, and the car timestamps the change.
 */
async function measureTimes(from: Browser): Promise<void> {
  const bench = await startBench('--scenario', 'parked');
  const page = await from.newPage();
  await page.goto(`${bench.url}/#commands`);
  const doors = page.getByRole('region', { name: 'Doors' });
  await doors.waitFor();
  const abort = new AbortController();
  let changed: (at: number) => void = () => undefined;
  const following = followLocks(bench.url, abort.signal, (at) => changed(at));
  await doors.getByRole('button', { name: 'Lock', exact: true }).click();
  await doors.locator('header').getByText('Locked', { exact: true }).waitFor();
  const [toCar, toPage]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const unlock = round % 2 === 0;
    const inCar = new Promise<number>((resolve) => {
      changed = resolve;
    });
    if (unlock) await doors.getByRole('button', { name: 'Unlock …' }).click();
    const button = doors.getByRole('button', { name: unlock ? 'Unlock' : 'Lock', exact: true });
    await button.waitFor();
    const [clicked, shown] = await clickAndSee(page, button, unlock ? 'Unlocked' : 'Locked');
    const car = await inCar;
    toCar.push(car - clicked);
    toPage.push(shown - car);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  console.log(`click to change in the car: median ${median(toCar)} ms (${ROUNDS} clicks)`);
  console.log(`change in the car to the page: median ${median(toPage)} ms (${ROUNDS} changes)`);
  abort.abort();
  await following;
  await page.close();
  await bench.end();
}

/** Clicks, and waits until the header of the doors card shows `words`. Returns both times in UTC ms. */
async function clickAndSee(page: Page, button: Locator, words: string): Promise<readonly [number, number]> {
  // A string, because this script has no types for browsers.
  await page.evaluate(`(() => {
    const card = document.querySelector('section[aria-label="Doors"]');
    const now = () => performance.timeOrigin + performance.now();
    let clicked;
    card.addEventListener('click', () => (clicked = now()), { capture: true, once: true });
    window.seen = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        const isShown = [...card.querySelectorAll('header *')].some(({ textContent }) => textContent === '${words}');
        if (!isShown || clicked === undefined) return;
        observer.disconnect();
        resolve([clicked, now()]);
      });
      observer.observe(card, { childList: true, characterData: true, subtree: true });
    });
  })()`);
  await button.click();
  return page.evaluate('window.seen');
}

/** Calls `changed` with the car's time of each change of its locks, in UTC ms. */
async function followLocks(url: string, signal: AbortSignal, changed: (at: number) => void): Promise<void> {
  const live = await fetch(`${url}/live`, { signal });
  let rest = '';
  try {
    for await (const part of (live.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (data === undefined) continue;
        const { path, at } = JSON.parse(data.slice(6)) as { readonly path?: string; readonly at: string };
        if (path === 'doorsState.lockedStates') changed(Date.parse(at));
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly args?: { readonly name?: string };
  /** Duration in µs. */
  readonly dur?: number;
  /** Processor time in µs, which other programs do not affect. */
  readonly tdur?: number;
}

async function measureThread(from: Browser): Promise<void> {
  const feed = await startFeed();
  const page: Page = await from.newPage({ viewport: { width: 1440, height: 900 } });
  await openFeed(page, feed);
  await from.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  const begin = performance.now();
  let updates = 0;
  while (performance.now() - begin < TRACED * 1_000) {
    feed.send();
    updates++;
    // If a timer is late, the later ones are not delayed.
    const wait = begin + (updates * 1_000) / RATE - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
  }
  const trace = JSON.parse((await from.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = new Set(
    trace.traceEvents
      .filter(({ name, ph, args }) => name === 'thread_name' && ph === 'M' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const onMain = trace.traceEvents.filter(({ ph, pid, tid }) => ph === 'X' && mains.has(`${pid} ${tid}`));
  const perUpdate = (name: RegExp, time: 'dur' | 'tdur' = 'tdur'): string =>
    (sum(onMain.filter((one) => name.test(one.name)).map((one) => one[time] ?? 0)) / 1_000 / updates).toFixed(2);
  const task = /::RunTask$/;
  const processor = onMain.some(({ name, tdur }) => task.test(name) && tdur !== undefined)
    ? `${perUpdate(task)} ms of the processor`
    : 'the browser does not tell the time of the processor';
  const frames = onMain.filter(({ name }) => name === 'FireAnimationFrame').length;
  console.log(
    `main thread for each update: ${processor}, ${perUpdate(task, 'dur')} ms by the clock ` +
      `(${VALUES} values, ${(updates / TRACED).toFixed(0)} updates/s, ${(frames / TRACED).toFixed(0)} frames/s, ${TRACED} s)`,
  );
  console.log(
    `of which writes ${perUpdate(/^FireAnimationFrame$/)} ms, styles ${perUpdate(/^UpdateLayoutTree$/)} ms, ` +
      `layout ${perUpdate(/^Layout$/)} ms, paint ${perUpdate(/^(PrePaint|Paint|Layerize|Commit)$/)} ms; the rest reads the stream`,
  );
  await page.close();
  feed.close();
}

function sum(times: readonly number[]): number {
  return times.reduce((all, time) => all + time, 0);
}

function median(times: readonly number[]): number {
  return Math.round([...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN);
}
