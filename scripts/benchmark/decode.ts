/** Decoding CAN: every signal of every frame to a physical value. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';
import { type Contestant, cells, contest, disagreeing, figure, median, ratioTo, type Standing } from './contest.ts';
import { madeUpNetwork } from './made-up-network.ts';
import { benchNetwork, everySignal, readNetwork, writeTables } from './network.ts';
import { installPeers } from './peers.ts';
import { compile } from './reference.ts';
import type { BenchmarkTarget, Section, Size, Table } from './section.ts';
import { carried, type FrameKind, makeTraffic, REPEATS, writeTraffic } from './traffic.ts';

interface Network {
  readonly name: string;
  readonly file: string;
}

/** Network description in a folder next to the project, if present. */
const peugeot: Network = {
  name: 'Peugeot AEE2010',
  file: fileURLToPath(new URL('../../../shared/data/dbc/opendbc/psa_aee2010_r3.repaired.dbc', import.meta.url)),
};

function networks(scratch: string): readonly Network[] {
  const file = join(scratch, 'made-up.dbc');
  writeFileSync(file, madeUpNetwork());
  const own = [
    { name: 'bench car', file: benchNetwork },
    { name: 'made-up network', file },
  ];
  return existsSync(peugeot.file) ? [...own, peugeot] : own;
}

const kinds: Readonly<Record<FrameKind, string>> = {
  new: 'every frame new',
  drive: `${REPEATS * 100} % of the frames repeat the last of their identifier`,
};

/**
 * A round takes only a few hundredths of a second, so there are more rounds than in other sections: a disturbance then
 * affects only a few of them.
 */
const MORE_ROUNDS = 4;

export const decoding: Section = {
  name: 'decode',
  title: 'Decoding CAN',
  text: `Frames in memory, every signal of every frame to a double. The reference is a table-driven decoder in C
(\`scripts/benchmark/reference/table.h\`) that uses tables which our loader prints. "Skipping" omits a frame that equals the last of its identifier, as ours always does. Ours puts the values of a batch of frames into columns; on request it also makes a call for each value, in the order of the frames. The ratio is the median of the
ratios of single rounds. The share of repeats was counted in a log of a real car. The made-up network is as large as
that of a real car (\`scripts/benchmark/made-up-network.ts\`). The Peugeot network is not a part of the project; the benchmark measures it if it is present.`,
  async run(size, scratch) {
    const tables: Table[] = [];
    for (const network of networks(scratch).slice(0, size.quick ? 1 : undefined)) {
      for (const kind of ['new', 'drive'] as const) tables.push(await compare(network, kind, size, scratch));
    }
    return tables;
  },
};

const CANDIED = 'candied (npm)';
/** Number of frames per round for decoders that need ten microseconds or more per frame. */
const FEW = 20_000;

/** Like {@link cells}, for a contestant that decodes fewer frames. */
function ofCandied(candied: Standing, { frames }: Size, first: Standing | undefined): string[] {
  const [name = '', ...rates] = cells(candied, FEW, undefined);
  const ratio = median(first?.times ?? []) / frames / (median(candied.times) / FEW);
  return [name, ...rates.slice(0, -1), figure(ratio)];
}

function wrongOfCandied({ name, outcome }: Standing): string {
  const [values = 0, wrong = 0] = outcome.split(' ').map(Number);
  return `${name} decoded ${FEW.toLocaleString('en')} of the frames; ${figure((wrong / values) * 100)} % of its values differ.`;
}

async function compare({ name, file }: Network, kind: FrameKind, size: Size, scratch: string): Promise<Table> {
  const database = readNetwork(file);
  const traffic = makeTraffic(database, size.frames, kind);
  const frames = join(scratch, 'decode.frames');
  const rows = join(scratch, 'decode.tables');
  writeTraffic(traffic, frames);
  writeTables(database, rows);
  const reference = compile('decode', scratch);
  const contestants: Contestant[] = [];
  if ('program' in reference) {
    const command = reference.program;
    contestants.push({ name: 'C, tables', command, arguments: [rows, frames] });
    if (kind === 'drive') contestants.push({ name: 'C, tables, skipping', command, arguments: [rows, frames, 'skip'] });
  }
  const program = await bundle('decode-program.ts', scratch);
  const own = { command: process.execPath };
  contestants.push({ ...own, name: '**vigie**', arguments: [program, file, frames] });
  contestants.push({ ...own, name: 'vigie, a call for each value', arguments: [program, file, frames, 'calls'] });
  const without = size.quick ? 'candied is left out of a quick run.' : installPeers();
  if (without === undefined) {
    const peer = await bundle('decode-peer-program.ts', scratch);
    contestants.push({ ...own, name: CANDIED, arguments: [peer, file, frames, String(FEW)], rounds: 3 });
  }
  const all = await contest(contestants, MORE_ROUNDS * size.rounds);
  const standings = all.filter(({ name: one }) => one !== CANDIED);
  const candied = all.find(({ name: one }) => one === CANDIED);
  const [first] = standings;
  // Decoders that skip repeated frames return no values for them.
  const alike = kind === 'new' ? standings : standings.slice(1);
  const different = 'program' in reference ? disagreeing(alike) : [];
  if (different.length > 0) throw new Error(`decoding ${name}: ${different.join()} gave other values`);
  const targets = standings
    .filter((standing) => first !== undefined && 'program' in reference && standing.name === '**vigie**')
    .map((own): BenchmarkTarget => {
      const measured = ratioTo(first as Standing, own);
      return { what: `${name}, ${kinds[kind]}: speed, of the C table`, measured, bound: 0.6, wanted: 'at least' };
    });
  const values = Number(standings.at(-1)?.outcome.split(' ')[0]);
  const signals = everySignal(database).length;
  return {
    title: `${name}, ${kinds[kind]}`,
    columns: ['decoder', 'million frames/s', 'slowest to fastest round', 'of the C table'],
    rows: standings
      .map((standing) => ({
        cells: cells(standing, size.frames, 'program' in reference ? first : undefined),
      }))
      .concat(candied === undefined ? [] : { cells: ofCandied(candied, size, first) }),
    notes: [
      `${size.frames.toLocaleString('en')} frames of ${carried(database).length} messages with ${signals} signals, ` +
        `${(values / size.frames).toFixed(1)} values a frame in the last row.`,
      'program' in reference
        ? `${alike.map((one) => one.name).join(' and ')} gave the same ${values.toLocaleString('en')} values to the last bit.`
        : reference.missing,
      ...(candied === undefined ? [without ?? ''] : [wrongOfCandied(candied)]),
    ],
    targets,
  };
}
