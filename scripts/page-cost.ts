/**
 * `npm run page-cost`: what the page costs a browser, printed and judged by nobody, since machines differ. Times on a real bench;
 * the main thread with 300 values that change 60 times a second, from a trace; the heap after ten minutes and an hour, in
 * compressed time.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { pageFiles } from '../adapters/http/documents.ts';
import { findPeer } from '../test/rig/peers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const generated = join(root, 'page/generated');
const ROUNDS = 15;
const VALUES = 300;
const RATE = 60;
/** Length of the trace, s. */
const TRACED = 10;

const browser = await chromium.launch({
  executablePath: findPeer('chromium') ?? '',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
console.log(
  `gzipped: ${kilobytes(pageFiles.reduce((sum, [file]) => sum + gzipSync(readFileSync(join(generated, file))).length, 0))}`,
);
await measureTimes(browser);
const feed = await startFeed();
await measureThread(browser, feed);
await measureHeap(browser, feed);
feed.close();
await browser.close();

/** From a click to the change in the car, and from there to the page, on the bench. */
async function measureTimes(from: Browser): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'vigie-cost-'));
  const options = ['bench', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked'];
  const bench = spawn(process.execPath, [join(root, 'main.ts'), ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) => {
    let said = '';
    bench.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ctrl-C ends the bench.')) resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '');
    });
  });
  const page = await from.newPage();
  await page.goto(`${url}/#commands`);
  const doors = page.getByRole('region', { name: 'Doors' });
  const horn = page.getByRole('region', { name: 'Horn' });
  await horn.waitFor();
  const abort = new AbortController();
  const live = await fetch(`${url}/live`, { signal: abort.signal });
  let changed: (at: number) => void = () => undefined;
  void (async () => {
    let rest = '';
    for await (const part of (live.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      rest = (rest + part).slice(-4_000);
      if (part.includes('"doorsState.lockedStates"')) changed(performance.now());
    }
  })().catch(() => undefined);
  const [toCar, toPage]: [number[], number[]] = [[], []];
  await doors.getByRole('button', { name: 'Lock', exact: true }).click();
  await doors.locator('header').getByText('Locked', { exact: true }).waitFor();
  for (let round = 0; round < ROUNDS; round++) {
    const unlock = round % 2 === 0;
    const inCar = new Promise<number>((resolve) => {
      changed = resolve;
    });
    if (unlock) await doors.getByRole('button', { name: 'Unlock …' }).click();
    const button = doors.getByRole('button', { name: unlock ? 'Unlock' : 'Lock', exact: true });
    await button.waitFor();
    const clicked = performance.now();
    await button.click();
    const [car] = await Promise.all([
      inCar,
      doors
        .locator('header')
        .getByText(unlock ? 'Unlocked' : 'Locked', { exact: true })
        .waitFor(),
    ]);
    toCar.push(car - clicked);
    toPage.push(performance.now() - car);
  }
  console.log(`click to change in the car: ${median(toCar)} ms (median of ${ROUNDS})`);
  console.log(
    `change in the car to the page: ${median(toPage)} ms (median of ${ROUNDS}; Playwright looks every few ms)`,
  );
  abort.abort();
  await page.close();
  bench.kill('SIGINT');
  await new Promise((resolve) => bench.once('exit', resolve));
  rmSync(data, { recursive: true, force: true });
}

interface Feed {
  readonly url: string;
  /** Sends one change of every value, by the clock of the car, UTC ms. */
  send(at: number): void;
  close(): void;
}

/** The files of the page and a car of 300 values whose changes the script sends. */
async function startFeed(): Promise<Feed> {
  const followers = new Set<ServerResponse>();
  const paths = Array.from({ length: VALUES }, (_, index) =>
    index === 0 ? 'kinetic.speed' : `group${Math.floor(index / 20)}.value${index}`,
  );
  let count = 0;
  const batch = (at: number): string => {
    const time = new Date(at).toISOString();
    count++;
    return paths
      .map((path, index) => {
        const value = (count + index) % 130;
        return `event: change\ndata: ${JSON.stringify({ path, value, at: time, stale: false })}\n\n`;
      })
      .join('');
  };
  const values = paths.map((path) => ({ path, kind: 'quantity', unit: 'km/h', resolution: 0.1, sources: [] }));
  const car = JSON.stringify({ vin: 'VF3VGEBENCH000001', title: 'Feed', profile: 'feed', values });
  const server = createServer(({ url = '/' }, response) => {
    const path = url.split('?', 1)[0] ?? '/';
    const file = pageFiles.find(([, address]) => address === path);
    if (file !== undefined) response.setHeader('Content-Type', file[2]).end(readFileSync(join(generated, file[0])));
    else if (path === '/vigie/v1/car') response.setHeader('Content-Type', 'application/json').end(car);
    else if (path === '/live' || path === '/vigie/v1/agent') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 3000\n\n');
      if (path === '/vigie/v1/agent') return;
      response.write(batch(Date.now()));
      followers.add(response);
      response.once('close', () => followers.delete(response));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    send: (at) => {
      const text = batch(at);
      for (const one of followers) one.write(text);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function openFeed(page: Page, { url }: Feed): Promise<void> {
  await page.goto(`${url}/#car`);
  await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  await page.getByText(`${VALUES} values`).waitFor();
}

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly args?: { readonly name?: string };
  readonly dur?: number;
  /** Of the processor, where other programs do not count. */
  readonly tdur?: number;
}

async function measureThread(from: Browser, feed: Feed): Promise<void> {
  const page = await from.newPage({ viewport: { width: 1440, height: 900 } });
  await openFeed(page, feed);
  await from.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  let updates = 0;
  const sending = setInterval(() => {
    updates++;
    feed.send(Date.now());
  }, 1_000 / RATE);
  await new Promise((resolve) => setTimeout(resolve, TRACED * 1_000));
  clearInterval(sending);
  const trace = JSON.parse((await from.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const busy = new Map<string, number>();
  for (const { ph, pid, tid, name, dur = 0, tdur = dur } of trace.traceEvents) {
    if (ph !== 'X' || !/RunTask$/.test(name)) continue;
    busy.set(`${pid} ${tid}`, (busy.get(`${pid} ${tid}`) ?? 0) + tdur / 1_000);
  }
  const mains = trace.traceEvents.filter(({ name, ph }) => name === 'thread_name' && ph === 'M');
  const main = Math.max(
    0,
    ...mains
      .filter(({ args }) => args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => busy.get(`${pid} ${tid}`) ?? 0),
  );
  console.log(
    `main thread: ${(main / updates).toFixed(2)} ms for each update (${VALUES} values, ${(updates / TRACED).toFixed(0)} updates/s, ${TRACED} s)`,
  );
  await page.close();
}

async function measureHeap(from: Browser, feed: Feed): Promise<void> {
  const context = await from.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const begin = Date.now();
  await page.clock.install({ time: begin });
  await openFeed(page, feed);
  const session = await context.newCDPSession(page);
  const used = async (): Promise<number> => {
    for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage');
    return ((await session.send('Runtime.getHeapUsage')) as { readonly usedSize: number }).usedSize;
  };
  const sizes: number[] = [];
  for (let second = 1; second <= 3_600; second++) {
    feed.send(begin + second * 1_000);
    await page.clock.runFor(1_000);
    if (second === 600 || second === 3_600) sizes.push(await used());
  }
  const [early = 0, late = 0] = sizes;
  const growth = ((late / early - 1) * 100).toFixed(1);
  console.log(`heap: ${kilobytes(early)} after 10 min, ${kilobytes(late)} after 60 min (${growth} %)`);
  await context.close();
}

function median(times: number[]): number {
  return Math.round(times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
