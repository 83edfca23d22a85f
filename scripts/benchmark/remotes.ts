/** Duration of a command, from the cloud to the car and back. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { findPeer } from '../../test/rig/peers.ts';
import { bundle } from './bundle.ts';
import { type Contestant, contest, figure, median, type Standing } from './contest.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';

/** Cars by their name in remotes-program.ts. The outcomes of the others are compared with that of the first. */
const cars = {
  mosquitto: 'mosquitto_sub to mosquitto_pub (C), the message sent back',
  mqttjs: 'mqtt.js as it comes, the message sent back',
  'mqttjs-nodelay': 'mqtt.js with TCP_NODELAY, the message sent back',
  medium: 'three waits for the medium alone (fdatasync), nothing sent',
  vigie: '**vigie**, the command verified, carried out, confirmed and written down',
} as const;

export const commanding: Section = {
  name: 'remotes',
  title: 'Round trip of a command',
  text: `From the cloud's publish to the last answer, QoS 1 both ways through a Mosquitto on the loopback; the cloud is the
same for all. The others send the message back. Ours is a signed command through the whole agent: signature, rights,
rates, interlocks, a frame, a frame of the car that shows it at once, and three states, each on the medium (fsync) before
it is published, and published before the next step; states between which nothing is done to the car share a wait for it. Single commands find processor, caches and compilers at rest, as in a car; commands in sequence find them warm.`,
  async run(size, scratch) {
    if (findPeer('mosquitto') === undefined) {
      return [{ title: 'no Mosquitto', columns: ['left out'], rows: [], notes: ['`apt-get install mosquitto`'] }];
    }
    const program = await bundle('remotes-program.ts', scratch);
    const broker = new MosquittoRig();
    await broker.start();
    try {
      return [
        await compare(1, size, program, broker.port, scratch),
        await compare(IN_A_ROW, size, program, broker.port, scratch),
      ];
    } finally {
      await broker.remove();
    }
  },
};

/** Number of commands that may arrive within half a second. */
const IN_A_ROW = 20;

const profile = fileURLToPath(new URL('../../config/vehicles/bench', import.meta.url));

async function compare(row: number, size: Size, program: string, port: number, scratch: string): Promise<Table> {
  const rounds = Math.round(size.frames / 2_000 / (row === 1 ? 1 : IN_A_ROW / 2));
  const clients = findPeer('mosquitto_pub') !== undefined && findPeer('mosquitto_sub') !== undefined;
  const kinds = (Object.keys(cars) as (keyof typeof cars)[]).filter((kind) => clients || kind !== 'mosquitto');
  const contestants = kinds.map((kind): Contestant => {
    const directory = join(scratch, `remotes-${row}-${kind}`);
    mkdirSync(directory, { recursive: true });
    // Counts the warm-up rounds, the counted rounds, and the checks.
    const most = String(rounds + 8);
    return {
      name: cars[kind],
      command: process.execPath,
      arguments: [program, kind, String(port), profile, directory, most, String(row)],
    };
  });
  const standings = await contest(contestants, rounds);
  const milliseconds = (time: number | undefined): string => figure((time ?? Number.NaN) / 1e6 / row);
  const at = ({ times }: Standing, share: number): number | undefined => times[Math.ceil(share * times.length) - 1];
  return {
    title: row === 1 ? 'single commands' : `${row} one after the other`,
    columns: ['the other end', 'median, ms', '99 of 100 within, ms', 'slowest, ms'],
    rows: standings.map((standing) => ({
      cells: [
        standing.name,
        milliseconds(median(standing.times)),
        milliseconds(at(standing, 0.99)),
        milliseconds(standing.times.at(-1)),
      ],
    })),
    notes: [
      `${rounds.toLocaleString('en')} rounds, the others in turn.`,
      ...(row === 1 ? [] : ['A round is the mean of its commands.']),
      ...(clients ? [] : ['No clients of Mosquitto: `apt-get install mosquitto-clients` brings them.']),
    ],
    targets: standings
      .filter(({ name }) => name === cars.vigie)
      .flatMap((own): BenchmarkTarget[] => {
        const of = (name: string): number => median(standings.find((one) => one.name === name)?.times ?? []);
        const [echo, medium] = [of(cars['mqttjs-nodelay']), of(cars.medium)];
        const why = `mqtt.js, which only sends the message back, took ${milliseconds(echo)} ms, three waits for the medium ${milliseconds(medium)}; in 99 of 100 rounds ours took at most ${milliseconds(at(own, 0.99))}${row === 1 ? ', with processor, caches and compilers at rest' : ''}`;
        const what = `${row === 1 ? 'a single command' : `${row} commands one after the other`}: time, of mqtt.js sending it back and three waits for the medium`;
        return [{ what, measured: median(own.times) / (echo + medium), bound: 2, wanted: 'at most', floor: 1, why }];
      }),
  };
}
