/** Common parts of page-cost.ts and page-heap.ts: a browser, a bench, and a car whose 300 values change on demand. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { pageFiles } from '../adapters/http/documents.ts';
import { findPeer } from '../test/rig/peers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
export const generated = join(root, 'page/generated');
export const VALUES = 300;

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: findPeer('chromium') ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

export interface MeasuredBench {
  readonly url: string;
  end(): Promise<void>;
}

/** Starts a separate bench with `options`. */
export async function startBench(...options: readonly string[]): Promise<MeasuredBench> {
  const data = mkdtempSync(join(tmpdir(), 'vigie-cost-'));
  const words = [join(root, 'main.ts'), 'bench', '--data', data, '--port', '0', '--http', '0', ...options];
  const bench = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) => {
    let said = '';
    bench.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000);
      if (said.includes('Ctrl-C ends the bench.')) resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '');
    });
  });
  return {
    url,
    end: async () => {
      bench.kill('SIGINT');
      await new Promise((resolve) => bench.once('exit', resolve));
      rmSync(data, { recursive: true, force: true });
    },
  };
}

export interface Feed {
  readonly url: string;
  /** Sends one change of every value. */
  send(): void;
  close(): void;
}

/** Serves the files of the page, and a car with 300 values that the script changes. */
export async function startFeed(): Promise<Feed> {
  const followers = new Set<ServerResponse>();
  const paths = Array.from({ length: VALUES }, (_, index) =>
    index === 0 ? 'kinetic.speed' : `group${Math.floor(index / 20)}.value${index}`,
  );
  let count = 0;
  const batch = (): string => {
    const at = new Date().toISOString();
    count++;
    return paths
      .map((path, index) => {
        const change = { path, value: (count + index) % 130, at, stale: false };
        return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
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
      response.write(batch());
      followers.add(response);
      response.once('close', () => followers.delete(response));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    send: () => {
      const text = batch();
      // If a browser cannot keep up, skip it: otherwise this process would buffer the data that the browser has not
      // read.
      for (const one of followers) if (!one.writableNeedDrain) one.write(text);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export async function openFeed(page: Page, { url }: Feed): Promise<void> {
  await page.goto(`${url}/#car`);
  await page.getByTestId('connection').getByText('Live', { exact: true }).waitFor();
  await page.getByText(`${VALUES} values`).waitFor();
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
