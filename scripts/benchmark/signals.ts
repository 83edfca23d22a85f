/** Cost of custom signals and captures on a unit: processor time, memory, and bytes sent. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDbc } from '../../adapters/can/dbc/index.ts';
import { CloudClient, EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { bundleProgram } from '../bundle.ts';
import { figure, median } from './contest.ts';
import { environmentOfUnit, measured, type ProcessCost } from './footprint.ts';
import type { Section } from './section.ts';
import { makeTraffic, writeCandump } from './traffic.ts';

const VIN = 'VF3SGNALSCAR00001';
const BUSES = ['a', 'b'] as const;
/** Number of messages per bus, each with {@link SIGNALS} signals: 5,008 signals in total. */
const MESSAGES = 313;
const SIGNALS = 8;
/** Frames per second on each bus, as {@link makeTraffic} produces them. */
const FRAMES_A_SECOND = 2_000;
/** Duration in s of the traffic, which is played repeatedly. */
const ROUND = 20;

interface Measured extends ProcessCost {
  readonly bytesPerHour: number;
}

export const recordingSignals: Section = {
  name: 'signals',
  title: 'Custom signals and captures',
  text: `\`vigie run\` as in *Footprint*, with two buses of ${FRAMES_A_SECOND.toLocaleString('en')} frames/s each, played from files (38 % of the frames repeat the one
before of their identifier, in the others one value changes): without custom signals, with ${(BUSES.length * MESSAGES * SIGNALS).toLocaleString('en')} of them by wildcards under the default rules
(at most one reading a second, no dead-band), and with all frames of both buses kept for captures as well.`,
  async run(size, scratch) {
    await bundleProgram();
    const [seconds, rounds] = size.quick ? [10, 1] : [20, 3];
    const folder = join(scratch, 'signals');
    mkdirSync(folder, { recursive: true });
    let parsing = 0;
    for (const bus of BUSES) {
      const text = dbc(bus);
      writeFileSync(join(folder, `${bus}.dbc`), text);
      const bytes = new TextEncoder().encode(text);
      const times = Array.from({ length: 5 }, () => {
        const start = performance.now();
        parseDbc(bytes, `${bus}.dbc`);
        return performance.now() - start;
      });
      parsing += median(times.sort((a, b) => a - b));
      const { database } = parseDbc(bytes, `${bus}.dbc`);
      if (database === undefined) throw new Error('the network cannot be read');
      writeCandump(makeTraffic(database, FRAMES_A_SECOND * ROUND, 'drive'), join(folder, `${bus}.log`), bus);
    }
    const broker = new EmbeddedBroker({ port: 0 });
    await broker.start();
    const watcher = await CloudClient.connect(broker.url);
    try {
      const captures = 'captures:\n  command: { before: 30s, after: 10s }\n';
      const cases = [
        { title: 'neither', more: '', costs: [] as Measured[] },
        { title: 'custom signals', more: signals(), costs: [] },
        { title: 'custom signals and captures', more: `${signals()}${captures}`, costs: [] },
        { title: 'captures', more: captures, costs: [] },
      ];
      for (let round = 0; round < rounds; round++) {
        for (const [i, { more, costs }] of cases.entries()) {
          costs.push(await agent(join(folder, `run-${round}-${i}`), more, broker.url, watcher, seconds));
        }
      }
      const rows = cases.map(({ title, costs }) => {
        const middle = (value: (cost: Measured) => number): string =>
          figure(median(costs.map(value).sort((a, b) => a - b)));
        return {
          cells: [
            title,
            middle(({ cpu }) => cpu),
            middle(({ privateMiB }) => privateMiB),
            middle(({ bytesPerHour }) => bytesPerHour / 1e6),
          ],
        };
      });
      return [
        {
          title: `${seconds} s at ${(BUSES.length * FRAMES_A_SECOND).toLocaleString('en')} frames/s on two buses`,
          columns: ['with', '% of one core', 'private, MiB', 'MB sent per hour'],
          rows,
          notes: [
            'Bytes are payloads of messages. Reading the files is a part of every row; with SocketCAN frames come as binary.',
            `At the start the agent reads the two DBC files: ${figure(parsing)} ms of one core, without the reading of the disk.`,
            'Of captures, the row has the ring in memory and what fills it; nobody asks for one.',
          ],
        },
      ];
    } finally {
      await watcher.close();
      await broker.stop();
    }
  },
};

/** Returns a DBC file whose messages have seven one-byte numbers and one byte with named values. */
function dbc(bus: string): string {
  const lines = ['VERSION ""', 'BU_: ECU'];
  const tables: string[] = [];
  for (let message = 0; message < MESSAGES; message++) {
    lines.push(`BO_ ${256 + message} ${bus.toUpperCase()}${message}: 8 ECU`);
    for (let signal = 0; signal < SIGNALS; signal++) {
      const unit = signal === SIGNALS - 1 ? '' : 'V';
      lines.push(` SG_ S${signal} : ${signal * 8}|8@1+ (${unit === '' ? 1 : 0.1},0) [0|0] "${unit}" ECU`);
    }
    tables.push(`VAL_ ${256 + message} S${SIGNALS - 1} 0 "Off" 1 "On" ;`);
  }
  return `${[...lines, ...tables].join('\n')}\n`;
}

function signals(): string {
  const messages = BUSES.flatMap((bus) =>
    Array.from({ length: MESSAGES }, (_, message) => [bus, `${bus.toUpperCase()}${message}`] as const),
  );
  return `signals:\n${messages.map(([bus, name]) => `  Vehicle.${name}.*: { signal: ${name}.*, bus: ${bus} }\n`).join('')}`;
}

async function agent(
  folder: string,
  more: string,
  url: string,
  watcher: CloudClient,
  seconds: number,
): Promise<Measured> {
  mkdirSync(folder, { recursive: true });
  const buses = BUSES.map((bus) => `  - { name: ${bus}, dbc: [../${bus}.dbc] }\n`).join('');
  const status = 'status:\n  kinetic.speed: { signal: A0.S0, bus: a, timeout: 5s }\n';
  writeFileSync(join(folder, 'profile.yaml'), `profile: 1\nname: signals\nbuses:\n${buses}${status}${more}`);
  const file = join(folder, 'vigie.yaml');
  const inputs = BUSES.map((bus) => `  - { bus: ${bus}, log: ../${bus}.log, loop: true }\n`).join('');
  writeFileSync(
    file,
    `configuration: 1\nvin: ${VIN}\nprofile: .\ndata: ./records\ncan:\n${inputs}mqtt: { url: ${url} }\nlog: { level: error }\n`,
  );
  const arrived: (readonly [at: number, bytes: number])[] = [];
  const counting = await watcher.subscribe(`vigie/1/${VIN}/up/+`, (_topic, payload) => {
    arrived.push([performance.now(), payload.length]);
  });
  try {
    const main = fileURLToPath(new URL('../vigie.js', import.meta.url));
    const child = spawn(process.execPath, [main, 'run', '-c', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...environmentOfUnit() },
    });
    let end = 0;
    const cost = await measured(child, `vigie/1/${VIN}/up/+`, watcher, seconds, () => {
      end = performance.now();
    });
    const bytes = arrived
      .filter(([at]) => at > end - seconds * 1000 && at <= end)
      .reduce((sum, [, one]) => sum + one, 0);
    return { ...cost, bytesPerHour: (bytes / seconds) * 3600 };
  } finally {
    await counting.close();
  }
}
