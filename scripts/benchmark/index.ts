/**
 * `npm run benchmark`: measures this project and its references in the same run, prints the tables and writes them to
 * results.md, from which docs/performance.md takes its tables. Ratios are comparable across machines, absolute figures are not.
 *
 *     npm run benchmark                 everything; starts no section after 12 minutes: repeat the command to continue
 *     npm run benchmark -- --for 30m    starts no section after this time
 *     npm run benchmark -- --quick      less work, under three minutes on an idle machine; writes nothing
 *     npm run benchmark -- decode       one section; writes its drawings but not the page
 *     npm run benchmark -- --write signals   one section, replaced on the page; only for sections without targets
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { secondsOf } from '../seconds.ts';
import { hearing } from './can.ts';
import { figure } from './contest.ts';
import { decoding } from './decode.ts';
import { footprint } from './footprint.ts';
import { growing } from './growth.ts';
import { serving } from './http.ts';
import { installing } from './install.ts';
import { type KeptSection, KeptSections } from './kept.ts';
import { readingLogs } from './logs.ts';
import { monitoring } from './monitors.ts';
import { draining } from './mqtt.ts';
import { MachineNoise } from './noise.ts';
import { withSections } from './page.ts';
import { compilerVersion } from './reference.ts';
import { commanding } from './remotes.ts';
import { replaying } from './replay.ts';
import { type BenchmarkTarget, markdown, type Section, type Size } from './section.ts';
import { recordingSignals } from './signals.ts';
import { storing } from './store.ts';
import { elsewhereTable, targetTable } from './targets.ts';
import { unpacking } from './unpack.ts';
import { wire } from './wire.ts';

const sections: readonly Section[] = [
  decoding,
  readingLogs,
  replaying,
  wire,
  unpacking,
  draining,
  commanding,
  storing,
  hearing,
  monitoring,
  serving,
  footprint,
  recordingSignals,
  installing,
  growing,
];
const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = join(root, 'docs');
const page = join(import.meta.dirname, 'results.md');

/** Sections that take minutes or that have no target. `--quick` omits them unless they are named. */
const long: readonly Section[] = [hearing, serving, recordingSignals, installing, growing];
const names = sections.map(({ name }) => name).join(', ');

const { values: options, positionals } = readArguments();
if (options.help) {
  console.log(`Usage: npm run benchmark -- [--quick | --write] [--for 12m] [section...]
Measures Vigie beside other programs in the same run, and writes scripts/benchmark/results.md when it runs as a whole;
npm run generate then puts the figures on docs/performance.md.
  --for     without sections: begins no section after this time; the same command goes on with the rest, and writes the page
            after the last one, as long as the sources are the same
  --quick   less work, under three minutes on an idle machine; leaves out ${long.map(({ name }) => name).join(', ')} unless named; writes nothing
  --write   puts the named sections on the page; those with targets need a whole run, because the page lists all targets together
Sections: ${names}`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !sections.some((section) => section.name === name));
if (unknown.length > 0) {
  console.error(`no section ${unknown.join(', ')}; there are ${names}`);
  process.exit(2);
}
if (options.write && (options.quick || positionals.length === 0)) {
  console.error('--write is for named sections, without --quick; a whole run writes the page without it');
  process.exit(2);
}

const limit = secondsOf(options.for);
if (limit === undefined) {
  console.error(`--for takes a time such as 90s, 12m or 1h, not ${options.for}`);
  process.exit(2);
}
const isWhole = !options.quick && positionals.length === 0;

const size: Size = options.quick
  ? { frames: 300_000, rounds: 5, quick: true }
  : { frames: 1_000_000, rounds: 11, quick: false };
const [cpu] = cpus();
const machine =
  `Measured on ${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  `${process.platform} ${process.arch}, Node ${process.versions.node}, ${compilerVersion()}.`;
const parts = [
  '# Results of the benchmark',
  '',
  'Written by `npm run benchmark`; do not edit. Each figure is the median of interleaved rounds, each program in its',
  'own process. Compare the ratios: they hold on other machines, absolute figures do not.',
  '',
  machine,
  '',
];
console.log(parts.join('\n'));
/** Targets by section title. */
const targets = new Map<string, readonly BenchmarkTarget[]>();
const texts = new Map<string, string>();
const head = parts.length;
const kept = isWhole ? new KeptSections(join(root, '.vigie/benchmark.json'), `${machine} ${sources()}`) : undefined;
const noise = new MachineNoise(kept?.noise);
/** Durations of the sections in s. */
const took: string[] = [];
const scratch = mkdtempSync(join(tmpdir(), 'vigie-benchmark-'));
const begun = performance.now();
try {
  for (const section of sections) {
    const wanted =
      positionals.length > 0 ? positionals.includes(section.name) : !(options.quick && long.includes(section));
    if (!wanted) continue;
    const known = kept?.find(section.name);
    if (known === undefined && isWhole && performance.now() - begun > limit * 1_000) {
      console.log(`No section begins after ${options.for}; the same command goes on with ${section.name}.`);
      rmSync(scratch, { recursive: true, force: true });
      process.exit(0);
    }
    const { text, targets: wantedFigures, seconds } = known ?? (await measure(section));
    if (wantedFigures.length > 0) targets.set(section.title, wantedFigures);
    took.push(`${section.name} ${figure(seconds)}`);
    texts.set(section.title, text);
    parts.push(text);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const elsewhere = positionals.length === 0 ? `\n${markdown(elsewhereTable)}` : '';
const reached = `${noise.told}\n\n## Targets\n\n${markdown(targetTable(targets))}${elsewhere}`;
console.log(reached);
console.log(`Seconds of each section: ${took.join(', ')}.\n`);
parts.splice(head, 0, reached);
if (options.write) {
  if (targets.size > 0) {
    console.error(
      `not written: ${[...targets.keys()].join(', ')} ${targets.size > 1 ? 'have' : 'has'} targets, which a whole run writes`,
    );
    process.exit(1);
  }
  // The start of the page describes the machine and its noise only for the run that wrote the whole page.
  const alone = `Measured apart from the other sections. ${machine} ${noise.told}\n`;
  const noted = new Map([...texts].map(([title, text]) => [title, `${text.trimEnd()}\n\n${alone}`]));
  const order = sections.map(({ title }) => title);
  writeFileSync(page, withSections(readFileSync(page, 'utf8'), noted, order));
  console.log(`written to ${page}`);
} else if (isWhole) {
  writeFileSync(page, parts.join('\n'));
  kept?.remove();
  console.log(`written to ${page}`);
}

async function measure(section: Section): Promise<KeptSection> {
  noise.listen();
  const from = performance.now();
  const lines = [`## ${section.title}\n\n${section.text}\n`];
  console.log(lines[0]);
  const figures: BenchmarkTarget[] = [];
  for (const table of await section.run(size, scratch)) {
    console.log(markdown(table));
    lines.push(markdown(table));
    figures.push(...(table.targets ?? []));
    if (!options.quick && table.drawing !== undefined) writeFileSync(join(docs, table.drawing.file), table.drawing.svg);
  }
  const result = { text: lines.join('\n'), targets: figures, seconds: (performance.now() - from) / 1_000 };
  kept?.keep(section.name, result, noise.times);
  return result;
}

/** Returns the commit and the uncommitted changes, except for those of the pages that the run itself writes. */
function sources(): string {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, maxBuffer: 2 ** 28 });
  const changes = git('diff', 'HEAD', '--', '.', ':!docs');
  return `${git('rev-parse', 'HEAD').toString().trim()} ${createHash('sha256').update(changes).digest('hex')}`;
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        for: { type: 'string', default: '12m' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(`${(error as Error).message.split('. ', 1)[0]}; npm run benchmark -- --help lists what there is`);
    process.exit(2);
  }
}
