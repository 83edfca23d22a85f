/**
 * `npm run week`: a week of the bench car's scripted day through the agent that `vigie run` builds, with a store on the
 * disk, which does not wait for the medium, and a broker in a process of its own, in time that passes as fast as the work is
 * done. Eight times a day the owner sends a command. Prints what the process holds after each day (or `--every` so many
 * hours, a multiple of 3), garbage collected, and fails when that is not flat: when the last line has more than the second,
 * or when the car does not obey a command.
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
/** Car time that passes at once, ms. */
const STEP = 1_000;
/** Messages that may wait for the broker before the car's time stands still for it. */
const MOST_WAITING = 50;
/** A command ends within this car time, ms. */
const COMMAND = 2 * 60_000;
/** Allowed growth of memory from the second line to the last, as a share. */
const FLAT = 0.02;

/** Bytes at one moment. */
export interface WeekMemory {
  /** JavaScript objects, garbage collected. */
  readonly heap: number;
  /** Buffers outside of the heap. */
  readonly external: number;
  /** Pages that only this process has, the simulated car's and the sources' included. */
  readonly private: number;
  /** Files of the records, bytes. */
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

/** Watches that happen every day. */
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

/** Lets car time pass, as long as disk and broker keep up with it. */
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
  // Work for the disk and the broker is done, and the second collection frees what finalizers released.
  for (let time = 0; time < 2; time++) {
    await until(500);
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  const files = readdirSync(records, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const disk = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { heap: heapUsed, external, private: vitals().privateBytes ?? Number.NaN, disk };
}

/** Outcomes of commands that were not carried out, in words. The lamps may be off already. */
export function disobeyed(outcomes: ReadonlyMap<string, number>): readonly string[] {
  return [...outcomes]
    .filter(([outcome]) => outcome !== 'Success' && outcome !== 'AlreadyDone')
    .map(([outcome, count]) => `${count} of the commands ended as ${outcome}`);
}

/** Growing quantities, in words: the last line against the second. Until the first line, buffers fill. */
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
