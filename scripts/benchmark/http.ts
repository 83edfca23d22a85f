/** Throughput and latency of the HTTP interface of a busy car. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { hashPassword } from '../../adapters/http/access/password.ts';
import { EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { bundleProgram } from '../bundle.ts';
import { bundle } from './bundle.ts';
import { figure, median } from './contest.ts';
import { writeDrive } from './drive-log.ts';
import type { Section } from './section.ts';

const VIN = 'VF3HTTPBENCH00001';
const FRAMES_A_SECOND = 2_000;
/** Time in ms between two deliveries of frames. */
const SLICE = 10;
/** Clock ticks per second of the kernel's processor times (sysconf(_SC_CLK_TCK), the same on every Linux). */
const TICKS = 100;
/** Number of clients. Each sends a request as soon as it has received the response to its previous one. */
const CLIENTS = 16;
const PASSWORD = 'benchmark';
const STATUS = '/connectedcar/v3/fleets/f1/vehicles/car/status';

/** Measurements of one server. */
interface Served {
  readonly requests: number;
  readonly seconds: number;
  /** Processor time of the server in s. */
  readonly cpu: number;
  /** Latencies in ms, ascending. */
  readonly latencies: Float64Array;
  readonly bytes: number;
}

export const serving: Section = {
  name: 'http',
  title: 'The interface over HTTP',
  text: `\`vigie run\` as a process, bundled by \`npm run bundle\`, connected to a broker, with one bus at ${FRAMES_A_SECOND.toLocaleString('en')} frames/s of a
drive of the bench car. ${CLIENTS} clients with connections of their own read the whole state of the vehicle (fleet side, HTTP Basic
and \`client_id\`), each with a new request after every answer. Beside it \`node:http\` alone, which answers with a text of the same length, and reads no bus. The delay by other work of the process counts.`,
  async run(size, scratch) {
    await bundleProgram();
    const { quick } = size;
    const seconds = quick ? 5 : 15;
    const rounds = quick ? 2 : 3;
    const log = join(scratch, 'http.log');
    await writeDrive(FRAMES_A_SECOND * 20, log);
    const lines = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const bare = await bundle('./http-bare.ts', scratch);
    const broker = new EmbeddedBroker({ port: 0 });
    await broker.start();
    const ours: Served[] = [];
    const theirs: Served[] = [];
    const notes: string[] = [];
    try {
      for (let round = 0; round < rounds; round++) {
        const folder = join(scratch, `http-${round}`);
        mkdirSync(folder, { recursive: true });
        const { served, frames } = await measureCar(folder, lines, broker.url, seconds);
        ours.push(served);
        notes.push(
          `Round ${round + 1}: ${frames.toLocaleString('en')} frames handed over, ${frames.toLocaleString('en')} decoded.`,
        );
        theirs.push(await measureBare(bare, served.bytes, seconds));
      }
    } finally {
      await broker.stop();
    }
    return [
      {
        title: `${seconds} s, ${CLIENTS} clients, an answer of ${(ours[0]?.bytes ?? 0).toLocaleString('en')} bytes with its headers`,
        columns: ['server', 'reads/s', 'reads per second of its processor time', 'median, ms', '99 of 100 within, ms'],
        rows: [row('**vigie run**, decoding', ours), row('node:http alone', theirs)],
        notes,
      },
    ];
  },
};

function row(name: string, of: readonly Served[]): { cells: string[] } {
  const of1 = (value: (served: Served) => number): string => figure(median(of.map(value).sort((a, b) => a - b)));
  const at = ({ latencies }: Served, share: number): number => latencies[Math.ceil(share * latencies.length) - 1] ?? 0;
  return {
    cells: [
      name,
      of1(({ requests, seconds }) => requests / seconds),
      of1(({ requests, cpu }) => requests / cpu),
      of1((served) => at(served, 0.5)),
      of1((served) => at(served, 0.99)),
    ],
  };
}

async function measureCar(
  folder: string,
  lines: readonly string[],
  broker: string,
  seconds: number,
): Promise<{ served: Served; frames: number }> {
  const [port, metrics] = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'password'), await hashPassword(PASSWORD), { mode: 0o600 });
  const file = join(folder, 'vigie.yaml');
  writeFileSync(
    file,
    `configuration: 1
vin: ${VIN}
profile: bench
data: ./records
can: [{ bus: body, log: '-' }]
mqtt: { url: ${broker} }
log: { level: error }
metrics: { listen: '127.0.0.1:${metrics}' }
http:
  listen: 127.0.0.1:${port}
  fleet: [{ name: operator, passwordFile: ./password, clientId: app, fleets: [f1] }]
  vehicle: { id: car }
  perDay: 1000000000
  perSecond: 1000000
`,
  );
  const main = fileURLToPath(new URL('../vigie.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'run', '-c', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const authorization = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`;
  const request = `GET ${STATUS}?client_id=app HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`;
  const stopFeeding = { now: (): number => 0 };
  try {
    // The program prints one line when it is ready.
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), gone(child)]);
    stopFeeding.now = feed(child, lines);
    const served = await load(child, port, request, seconds);
    const frames = stopFeeding.now();
    await decoded(metrics, frames);
    return { served, frames };
  } finally {
    stopFeeding.now();
    await end(child);
  }
}

async function measureBare(program: string, bytes: number, seconds: number): Promise<Served> {
  const port = await freePort();
  const child = spawn(process.execPath, [program, String(port), String(bytes)], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), gone(child)]);
    return await load(child, port, 'GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', seconds);
  } finally {
    await end(child);
  }
}

/** Delivers frames as a bus does. Returns a function that stops this and returns the number of frames. */
function feed(child: ChildProcess, lines: readonly string[]): () => number {
  const begun = performance.now();
  const each = (FRAMES_A_SECOND * SLICE) / 1000;
  let frames = 0;
  const feeding = setInterval(() => {
    // If the timer was late, deliver several slices of frames.
    for (const due = Math.floor((performance.now() - begun) / SLICE) * each; frames < due; frames += each) {
      const from = frames % lines.length;
      child.stdin?.write(`${lines.slice(from, from + each).join('\n')}\n`);
    }
  }, SLICE);
  return () => {
    clearInterval(feeding);
    return frames;
  };
}

/** Resolves when the agent has decoded `frames` frames. Rejects if it does not. */
async function decoded(metrics: number, frames: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const count = (name: string): number =>
      Number(new RegExp(`^\\w*${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
    if (count('frames_total') === frames && !(count('frames_dropped_total') > 0)) return;
    if (performance.now() > deadline) throw new Error(`${count('frames_total')} of ${frames} frames were decoded`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Sends requests as fast as the server responds, after a warm-up. */
async function load(child: ChildProcess, port: number, request: string, seconds: number): Promise<Served> {
  const warm = await ask(port, request, Math.min(5, seconds / 2));
  const before = ticksOf(child);
  const result = await ask(port, request, seconds);
  const cpu = (ticksOf(child) - before) / TICKS;
  return { ...result, cpu, requests: result.latencies.length, bytes: warm.bytes };
}

async function ask(port: number, request: string, seconds: number) {
  const begun = performance.now();
  const clients = Array.from({ length: CLIENTS }, () => client(port, request, begun + seconds * 1000));
  const told = await Promise.all(clients);
  const latencies = Float64Array.from(told.flatMap(({ latencies: of }) => of)).sort();
  return { latencies, seconds: (performance.now() - begun) / 1000, bytes: told[0]?.bytes ?? 0 };
}

/** Runs one client on one connection. It checks only the status and the length of each response. */
async function client(port: number, request: string, until: number): Promise<{ latencies: number[]; bytes: number }> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const latencies: number[] = [];
  let bytes = 0;
  let [asked, got, whole] = [0, 0, 0];
  const next = (): void => {
    asked = performance.now();
    [got, whole] = [0, 0];
    socket.write(request);
  };
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (whole === 0) {
        const head = chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
        if (!head.startsWith('HTTP/1.1 200') || end < 0 || Number.isNaN(length)) {
          reject(new Error(`not an answer: ${head.slice(0, 500)}`));
          return;
        }
        whole = end + 4 + length;
      }
      got += chunk.byteLength;
      if (got < whole) return;
      bytes = whole;
      const now = performance.now();
      latencies.push(now - asked);
      if (now < until) next();
      else resolve();
    });
    next();
  });
  socket.destroy();
  return { latencies, bytes };
}

/** Returns user and system time in ticks (proc(5), fields 14 and 15 of stat). */
function ticksOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function gone(child: ChildProcess): Promise<never> {
  await once(child, 'exit');
  throw new Error('the server ended before it was ready');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
