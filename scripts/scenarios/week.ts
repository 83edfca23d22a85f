/**
 * `npm run week`: runs a week of the bench car's scripted day through the agent that `vigie run` builds, with a store
 * on disk that does not sync, and a broker in a separate process. Car time passes as fast as the work can be done.
 * Eight times a day the owner sends a command. Prints the memory of the process after garbage collection each day (or
 * every `--every` hours, a multiple of 3). Fails if it grows (the last line exceeds the second) or if the car does not
 * obey a command.
 *
 *     npm run week -- --days 3 --every 6
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as until } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../adapters/keys/index.ts';
import { processVitals } from '../../adapters/service/process.ts';
import { hastyFiles } from '../../test/rig/hasty-files.ts';
import { CountedCar } from '../file-count/car.ts';
import type { RunnableScenario } from './scenario.ts';

const VIN = 'VF3VGEWEEK0000001';
const HOUR = 3_600_000;
/** Car time per step in ms. */
const STEP = 1_000;
/** Largest number of messages that may wait for the broker before car time pauses. */
const MOST_WAITING = 50;
/** Longest car time in ms that a command may take. */
const COMMAND = 2 * 60_000;
/** Largest growth of memory from the second line to the last that is allowed, as a fraction. */
const FLAT = 0.02;

/** Memory and disk use at one time in bytes. */
export interface WeekMemory {
  /** JavaScript objects after garbage collection. */
  readonly heap: number;
  /** Buffers outside the heap. */
  readonly external: number;
  /** Private pages of this process, which include those of the simulated car and of the sources. */
  readonly private: number;
  /** Files of the records. */
  readonly disk: number;
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(2).padStart(8);

const gained = (before: number, after: number): string => `${after < before ? '' : '+'}${mib(after - before).trim()}`;

export const week: RunnableScenario<{ readonly days: number; readonly every: number }> = {
  options: { days: 7, every: 24 },
  async run({ days, every }) {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-week-'));
    const keys = join(folder, 'keys');
    await generateKey(keys, 'owner', { algorithm: 'ES256', kinds: ['Lights'] });
    const program = fileURLToPath(new URL('../file-count/cloud.ts', import.meta.url));
    const cloud = spawn(process.execPath, [program, VIN, keys], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const lines = createInterface({ input: cloud.stdout })[Symbol.asyncIterator]();
      const line = async (): Promise<string> => {
        const { value, done } = await lines.next();
        if (done === true) throw new Error('the cloud ended');
        return value;
      };
      const car = await CountedCar.start({ vin: VIN, broker: await line(), keys, folder, monitors, files: hastyFiles });
      const outcomes = new Map<string, number>();
      const held: WeekMemory[] = [];
      console.log('hour heap MiB  external  private  records on disk');
      await car.drive('day');
      for (let hour = 3; hour <= days * 24; hour += 3) {
        await pass(car, 3 * HOUR);
        cloud.stdin.write(`${car.clock.now()}\n`);
        const outcome = await car.clock.passUntil(line(), COMMAND);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (hour % every !== 0) continue;
        const now = await holding(join(folder, 'records'));
        held.push(now);
        console.log(
          `${String(hour).padStart(4)}${mib(now.heap)}  ${mib(now.external)} ${mib(now.private)}  ${mib(now.disk)}`,
        );
      }
      for (const [outcome, count] of outcomes) console.log(`${count} × ${outcome}`);
      await car.stop();
      return [...growth(held), ...disobeyed(outcomes)];
    } finally {
      cloud.stdin.end();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Monitors that trigger every day. */
const monitors = [
  { data: 'vehicle.trip.stop', op: 'onChange' },
  { data: 'vehicle.kinetic.speed', op: 'greaterThan', value: ['40'], hysteresis: 5 },
  { data: 'stolen.state', op: 'equalsTo', value: ['true'] },
].map((data, n) => ({
  monitorId: `week-${n}`,
  monitor: {
    label: 'watched all week',
    extendedEventParam: ['vehicle.position', 'vehicle.trip'],
    triggerParam: { triggers: [{ name: 'it', data }], boolExp: 'it' },
    context: { before: 5, after: 5 },
  },
}));

/** Advances car time, but no faster than disk and broker can keep up. */
async function pass(car: CountedCar, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP) {
    car.clock.advance(STEP);
    await new Promise((resolve) => setImmediate(resolve));
    while (car.waiting > MOST_WAITING) await until(1);
  }
}

async function holding(records: string): Promise<WeekMemory> {
  if (globalThis.gc === undefined) throw new Error('run it with node --expose-gc');
  const vitals = processVitals();
  // Twice: pending work for disk and broker completes, and the second collection frees what finalizers have released.
  for (let time = 0; time < 2; time++) {
    await until(500);
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  const files = readdirSync(records, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const disk = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { heap: heapUsed, external, private: vitals().privateBytes ?? Number.NaN, disk };
}

/** Describes the commands that were not carried out. `AlreadyDone` is allowed: the lamps may be off already. */
export function disobeyed(outcomes: ReadonlyMap<string, number>): readonly string[] {
  return [...outcomes]
    .filter(([outcome]) => outcome !== 'Success' && outcome !== 'AlreadyDone')
    .map(([outcome, count]) => `${count} of the commands ended as ${outcome}`);
}

/** Describes growing quantities by comparing the last line with the second. Until the first line, buffers fill. */
export function growth(held: readonly WeekMemory[]): readonly string[] {
  const [first, second] = held;
  const last = held.at(-1);
  if (first === undefined || second === undefined || last === undefined || last === second)
    return ['two lines show nothing: give --days 3 or more'];
  const bytes = ({ heap, external }: WeekMemory): number => heap + external;
  const grown = bytes(last) / bytes(second) - 1;
  console.log(
    `held at the last line, beside the second: ${(grown * 100).toFixed(2)} % more (at most ${FLAT * 100} % is flat)`,
  );
  console.log(
    `from the first line to the last, MiB: heap ${gained(first.heap, last.heap)}, external ${gained(first.external, last.external)}, private ${gained(first.private, last.private)}`,
  );
  return grown > FLAT ? ['the memory is not flat'] : [];
}
