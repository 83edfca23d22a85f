/** The connection to the broker: how fast it delivers a backlog. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { findPeer } from '../../test/rig/peers.ts';
import { bundle } from './bundle.ts';
import { type Contestant, contest, disagreeing, figure, median, ratioTo, type Standing } from './contest.ts';
import type { Found } from './reference.ts';
import type { Section, Size, Table } from './section.ts';

const windows = [1, 20, 100] as const;
const BYTES = 200;

export const draining: Section = {
  name: 'mqtt',
  title: 'Handing over a backlog',
  text: `Messages of ${BYTES} bytes with QoS 1 to a Mosquitto on the loopback, TCP_NODELAY on all sides, with a limit of messages in flight; a round ends with the last acknowledgement. \`link\` has its messages in memory, as libmosquitto
has; \`outbox\` does the work of the car after an outage: it reads messages from its store on disk in the order of priority, and records their acknowledgement there. libmosquitto speaks MQTT 3.1.1, ours MQTT 5 with a topic alias.`,
  async run(size, scratch) {
    if (findPeer('mosquitto') === undefined) {
      return [{ title: 'no Mosquitto', columns: ['left out'], rows: [], notes: ['`apt-get install mosquitto`'] }];
    }
    const program = await bundle('mqtt-program.ts', scratch);
    const broker = new MosquittoRig({ settings: ['max_inflight_messages 0'] });
    await broker.start();
    try {
      const tables: Table[] = [];
      for (const window of size.quick ? [20] : windows)
        tables.push(await compare(window, size, program, broker.port, scratch));
      return tables;
    } finally {
      await broker.remove();
    }
  },
};

/** Programs by their name in mqtt-program.ts. */
const programs = {
  mqttjs: 'mqtt.js, with TCP_NODELAY',
  link: '**vigie**, link',
  outbox: '**vigie**, outbox',
} as const;

async function compare(window: number, size: Size, program: string, port: number, scratch: string): Promise<Table> {
  const count = Math.round(size.frames / (window === 1 ? 200 : 50));
  const reference = libmosquitto(scratch);
  // Counts the warm-up rounds, the counted rounds, and the check.
  const rounds = size.rounds + 6;
  const own = (kind: keyof typeof programs): Contestant => {
    const directory = join(scratch, `mqtt-${kind}-${window}`);
    mkdirSync(directory, { recursive: true });
    const numbers = [port, window, count, BYTES, rounds].map(String);
    return { name: programs[kind], command: process.execPath, arguments: [program, kind, ...numbers, directory] };
  };
  const peers: readonly Contestant[] =
    'program' in reference
      ? [
          {
            name: 'libmosquitto (C)',
            command: reference.program,
            arguments: [port, window, count, BYTES].map(String),
          },
        ]
      : [];
  const standings = await contest([...peers, own('mqttjs'), own('link'), own('outbox')], size.rounds);
  const different = disagreeing(standings);
  if (different.length > 0) throw new Error(`mqtt: ${different.join()} handed over another number of messages`);
  const first = peers.length > 0 ? standings[0] : undefined;
  return {
    title: `at most ${window} under way`,
    columns: ['client', 'thousand messages/s', 'slowest to fastest round', 'of libmosquitto'],
    rows: standings.map((standing) => {
      const { name, times } = standing;
      const rate = (time: number | undefined): string => figure((count / (time ?? Number.NaN)) * 1e6);
      const ratio = first === undefined ? '' : figure(ratioTo(first, standing));
      return { cells: [name, rate(median(times)), `${rate(times.at(-1))} to ${rate(times[0])}`, ratio] };
    }),
    targets: standings
      .filter(({ name }) => first !== undefined && name === programs.outbox)
      .map((outbox) => {
        const what = `a backlog, ${window} under way: speed, of libmosquitto`;
        const why = 'the outbox reads each message from the store, and records its acknowledgement there';
        return { what, measured: ratioTo(first as Standing, outbox), bound: 0.5, wanted: 'at least', why };
      }),
    notes: 'missing' in reference ? [reference.missing] : [`${count.toLocaleString('en')} messages a round.`],
  };
}

/** Compiles the reference if the library's headers are installed. */
function libmosquitto(scratch: string): Found {
  const program = join(scratch, 'mqtt');
  if (existsSync(program)) return { program };
  const source = fileURLToPath(new URL('reference/mqtt.c', import.meta.url));
  const run = spawnSync('gcc', ['-O2', '-Wall', '-o', program, source, '-lmosquitto'], { encoding: 'utf8' });
  if (run.status === 0) return { program };
  const why = run.error?.message ?? run.stderr.split('\n')[0] ?? '';
  return { missing: `no libmosquitto beside it: \`apt-get install gcc libmosquitto-dev\` brings it (${why})` };
}
