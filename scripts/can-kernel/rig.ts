/** Common parts of the checks: interfaces, a bus that collects received frames, and the summary of results. */
import { execFileSync, spawn } from 'node:child_process';
import { SocketCan, type SocketCanOptions } from '../../adapters/can/socketcan/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { FrameBatch, SourceHealth } from '../../agent/ports.ts';

/** Timeout in ms of operations that should be quick. */
const PATIENCE = 15_000;

export interface Received {
  readonly at: number;
  readonly id: number;
  readonly flags: number;
  readonly data: string;
}

/** A check throws this if the kernel lacks a required feature. */
export class Skipped extends Error {}

export function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Runs a program while this process keeps reading. */
export async function runBeside(program: string, ...args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
}

export function ip(command: string): void {
  run('ip', ...command.split(' '));
}

/** Configures the queueing of an interface. Skips the check if the kernel does not support it. */
export function tc(command: string): void {
  try {
    run('tc', ...command.split(' '));
  } catch (error) {
    throw new Skipped(`no traffic control here: ${String(error)}`);
  }
}

export function addInterface(name: string, mtu = 72): void {
  ip(`link add ${name} type vcan`);
  ip(`link set ${name} mtu ${mtu} up`);
}

export const clock = new SystemClock();

/** Open handles of the running check. */
const opened: SocketCan[] = [];

/** A SocketCan source that stores received frames as strings. */
export class Bus {
  readonly can: SocketCan;
  readonly frames: Received[] = [];

  private constructor(can: SocketCan) {
    this.can = can;
  }

  static async open(options: Partial<SocketCanOptions> = {}): Promise<Bus> {
    const bus = new Bus(new SocketCan({ interface: 'vcan0', bus: 'test', clock, ...options }));
    opened.push(bus.can);
    await bus.can.start((batch) => bus.#take(batch));
    return bus;
  }

  get health(): SourceHealth {
    return this.can.health();
  }

  count(name: string): number {
    return this.health.counts[name] ?? Number.NaN;
  }

  /** Number of frames that were sent but not received here, according to the kernel. */
  get dropped(): number {
    return droppedBy(this.can);
  }

  /** Resolves when `count` frames have been received in total. */
  async received(count: number): Promise<Received[]> {
    await until(
      `${count} frames`,
      () => this.frames.length >= count,
      () => `${this.frames.length} came`,
    );
    return this.frames;
  }

  async state(state: SourceHealth['state']): Promise<void> {
    await until(
      `state ${state}`,
      () => this.health.state === state,
      () => JSON.stringify(this.health),
    );
  }

  #take({ count, at, id, flags, length, offset, data }: FrameBatch): void {
    for (let i = 0; i < count; i++) {
      const begin = offset[i] as number;
      this.frames.push({
        at: at[i] as number,
        id: id[i] as number,
        flags: flags[i] as number,
        data: Buffer.from(data.subarray(begin, begin + (length[i] as number))).toString('hex'),
      });
    }
  }
}

/** Returns the number of lost frames, according to the kernel. */
export function droppedBy(can: SocketCan): number {
  const { counts } = can.health();
  return (counts['dropped'] ?? Number.NaN) + (counts['interfaceDropped'] ?? Number.NaN);
}

/** Resolves when `condition` holds. After a timeout, rejects with the text of `found`. */
export async function until(what: string, condition: () => boolean, found: () => string): Promise<void> {
  const end = clock.monotonic() + PATIENCE;
  while (!condition()) {
    if (clock.monotonic() > end) throw new Error(`waited in vain for ${what}: ${found()}`);
    await pass(5);
  }
}

/** Waits for `ms`, to verify that nothing happens in this time. */
export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

/** Checks in order, by the sentence that each verifies. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

/** Runs checks one after the other, each on its own new interface `vcan0`, and prints each result. */
export async function runChecks(checks: Checks): Promise<void> {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const [sentence, check] of Object.entries(checks)) {
    addInterface('vcan0');
    try {
      await check();
      passed++;
      console.log(`ok       ${sentence}`);
    } catch (error) {
      if (error instanceof Skipped) {
        skipped++;
        console.log(`skipped  ${sentence}: ${error.message}`);
      } else {
        failed++;
        console.log(`FAILED   ${sentence}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
    await Promise.all(opened.splice(0).map((can) => can.stop()));
    removeInterfaces();
  }
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
}

/** Removes interfaces that a check created or left behind. */
function removeInterfaces(): void {
  const listed = execFileSync('ip', ['-o', 'link', 'show', 'type', 'vcan'], { encoding: 'utf8' });
  for (const [, name] of listed.matchAll(/^\d+: ([^:@]+)[:@]/gm)) ip(`link delete ${name}`);
}
