/**
 * `npm run count-files`: counts in how many of our files functions are called while the agent processes one frame and
 * one command, according to V8. Prints the lists; `--write` puts them into files.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../adapters/keys/index.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { withSection } from '../generated-section.ts';
import { CallCount } from './calls.ts';
import { CountedCar } from './car.ts';

const VIN = 'VF3VGEBENCH000001';
const SECOND = 1_000;
/** Number of frames in the counted batches. */
const FRAMES = 50;
const PAGE = 'scripts/file-count/files.md';

const titles = {
  changed: 'For each frame in which a value has changed',
  repeated: 'For each frame that says what the last of its identifier said',
  faster: 'For each frame in which the speed has changed, by which trips are made',
  batch: 'Once for a batch of frames, beside those',
  command: 'A command, from the link to `Success`, all that it uses of disk, broker and frames included',
  own: 'Of these, the files that 30 seconds of a drive do not call: the command’s own',
} as const;

/** For each title, the files in which functions are called. */
type Counted = Readonly<Record<keyof typeof titles, readonly string[]>>;

/** Counts the calls first for one command and then for some frames, in a car with a cloud. */
async function count(folder: string): Promise<Counted> {
  const keys = join(folder, 'keys');
  await generateKey(keys, 'owner', { algorithm: 'ES256', kinds: ['Lights'] });
  const cloud = spawn(process.execPath, [fileURLToPath(new URL('cloud.ts', import.meta.url)), VIN, keys], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: cloud.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the cloud ended');
    return value;
  };
  const car = await CountedCar.start({ vin: VIN, broker: await line(), keys, folder, oneFrame: true });
  const { clock } = car;
  /** Waits for a time between two of the ticks that occur once a second. */
  const betweenTicks = (): Promise<void> => clock.pass(SECOND - (clock.now() % SECOND) + 200);

  let on = 1;
  const command = async (): Promise<void> => {
    car.answer('LIGHTS', { TurnFL: on, TurnFR: on, TurnRL: on, TurnRR: on });
    on = 1 - on;
    await betweenTicks();
    await calls?.take();
    cloud.stdin.write('\n');
    const outcome = await clock.passUntil(line(), SECOND / 2);
    // The ledger is a separate file, which is written in the meantime.
    await clock.pass(SECOND / 4);
    if (outcome !== 'Success') throw new Error(`the command ended as ${outcome}`);
  };
  /** Passes a batch to the agent. Returns the files in which a function is called for each of its frames. */
  const frames = async (batch: FrameBatch): Promise<readonly string[]> => {
    await betweenTicks();
    await calls?.take();
    car.receive(batch);
    return (await calls?.take(batch.count)) ?? [];
  };
  let calls: CallCount | undefined;

  await car.live('parked', 3 * SECOND);
  for (let n = 0; n < 3; n++) await command();
  calls = await CallCount.begin();
  await command();
  const ofCommand = await calls.take();

  await car.live('loop', 20 * SECOND, 30 * SECOND);
  const temperatures = (from: number): FrameBatch =>
    car.frames('ENGINE', FRAMES, (n) => ({ IntakeTemp: from + (n % 2) }));
  const speeds = (from: number): FrameBatch =>
    car.frames('MOTION', FRAMES, (n) => ({ Speed: from + n / 10, Moving: 1 }));
  const same = (): FrameBatch => car.frames('ENGINE', FRAMES, () => ({ IntakeTemp: 30 }));
  for (const warm of [temperatures(10), speeds(30), same()]) {
    car.receive(warm);
    await clock.pass(20);
  }
  const repeated = await frames(same());
  const changed = await frames(temperatures(20));
  const faster = await frames(speeds(35));
  const batch = await frames(car.frames('ENGINE', 1, () => ({ IntakeTemp: 40 })));
  await calls.take();
  await car.live('loop', 30 * SECOND, 60 * SECOND);
  const drive = await calls.take();
  calls.end();
  await car.stop();
  cloud.stdin.end();
  await once(cloud, 'exit');
  return {
    repeated,
    changed,
    faster,
    batch: batch.filter((file) => !changed.includes(file)),
    command: ofCommand,
    own: ofCommand.filter((file) => !drive.includes(file)),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'vigie-count-'));
try {
  const counted = await count(folder);
  const text = sectionOf(counted);
  console.log(text);
  if (process.argv.includes('--write')) {
    writeFileSync(
      new URL(`../../${PAGE}`, import.meta.url),
      withSection(PAGE, 'files', text, 'count-files -- --write'),
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function sectionOf(counted: Counted): string {
  return Object.entries(titles)
    .map(([name, title]) => {
      const files = counted[name as keyof Counted];
      return `**${title}: ${files.length}**\n\n${byFolder(files)}`;
    })
    .join('\n');
}

/** Returns one line for each folder. */
function byFolder(files: readonly string[]): string {
  return [...new Set(files.map((file) => dirname(file)))]
    .map((folder) => {
      const names = files.filter((file) => dirname(file) === folder).map((file) => basename(file, '.ts'));
      return `- \`${folder}/\` ${names.join(', ')}\n`;
    })
    .join('');
}
