import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';

const MOVED = /runs in a process of its own: (\d+)/;

/** A bench whose agent runs in its own process, with its `pid`. */
async function movedBench() {
  const data = mkdtempSync(join(tmpdir(), 'vigie-bench-'));
  const bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--http', '0', '--scenario', 'parked']);
  onTestFinished(async () => {
    await bench.end('SIGKILL');
    // The agent writes until it notices that the bench has ended.
    for (const [, agent] of bench.output.matchAll(new RegExp(MOVED, 'g'))) {
      await vi.waitUntil(() => !runs(Number(agent)), { timeout: 60_000 });
    }
    rmSync(data, { recursive: true, force: true });
  });
  await bench.says('Ctrl-C ends the bench.');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0] ?? '';
  const plug = (process: boolean): Promise<Response> =>
    fetch(`${url}/vigie/v1/bench`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ process }),
    });
  expect((await plug(false)).status, 'nothing can be killed yet').toBe(400);
  expect((await plug(true)).status).toBe(200);
  await bench.says(MOVED);
  return { bench, url, plug, pid: Number(MOVED.exec(bench.output)?.[1]) };
}

/**
 * Returns whether the process runs. An ended orphan stays a zombie if the init process does not wait for its children,
 * as in many containers (proc(5), State).
 */
function runs(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('Ctrl-C ends a bench and the process of its agent', async () => {
  const { bench, pid } = await movedBench();
  expect(runs(pid)).toBe(true);
  expect(await bench.end('SIGINT'), bench.output).toBe(0);
  expect(runs(pid)).toBe(false);
  expect(bench.output).not.toMatch(/error/i);
});

test('a killed bench leaves no agent process behind', async () => {
  const { bench, pid } = await movedBench();
  await bench.end('SIGKILL');
  await expect.poll(() => runs(pid), { timeout: 60_000 }).toBe(false);
});

test('a killed agent stays away until it is started again, and the page keeps working', async () => {
  const { bench, url, plug, pid } = await movedBench();
  expect((await fetch(`${url}/vigie/v1/car`)).status).toBe(200);
  process.kill(pid, 'SIGKILL');
  await expect.poll(async () => (await fetch(`${url}/fleets`)).status).toBe(503);
  expect(await (await fetch(`${url}/fleets`)).text()).toContain('the agent was killed: start it again');
  // The page still names the car.
  expect((await fetch(`${url}/vigie/v1/car`)).status).toBe(200);
  expect((await fetch(`${url}/`)).status).toBe(200);
  const told = bench.output.length;
  expect(await (await plug(true)).json()).toMatchObject({ process: 'runs', received: { classes: expect.anything() } });
  expect(bench.output.slice(told)).toMatch(MOVED);
  const { bench: isBench, vin } = (await (await fetch(`${url}/vigie/v1/car`)).json()) as Record<string, unknown>;
  expect([isBench, vin]).toEqual([true, 'VF3VGEBENCH000001']);
});

test('links contain the address of the page, and requests from other web pages are refused', async () => {
  const { url } = await movedBench();
  expect(await (await fetch(`${url}/user`)).text()).toContain(`${url}/`);
  const foreign = { 'Sec-Fetch-Site': 'cross-site' };
  expect((await fetch(`${url}/user`, { headers: foreign })).status).toBe(403);
});

test('the internal option with which a bench starts its agent is hidden from users', async () => {
  const { status, stderr } = await vigie('bench', '--agent');
  expect(status).toBe(2);
  expect(stderr).toContain('leave it out');
});
