/** Common part of the checks: interfaces, a bus that collects received frames, and the count of outcomes. */
import { execFileSync, spawn } from 'node:child_process';
import { SocketCan, type SocketCanOptions } from '../../adapters/can/socketcan/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { FrameBatch, SourceHealth } from '../../agent/ports.ts';

/** Milliseconds that anything may take that does not take long. */
const PATIENCE = 15_000;

export interface Received {
  readonly at: number;
  readonly id: number;
  readonly flags: number;
  readonly data: string;
}

/** Thrown by a check if the kernel lacks a required feature. */
export class Skipped extends Error {}

export function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Runs a program while this process goes on reading. */
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

/** Sets up how an interface sends. Skips the check where the kernel cannot. */
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

/** A SocketCan that keeps what it receives, each as text. */
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

  /** Frames that were sent and not received here, by the kernel's count. */
  get dropped(): number {
    return droppedBy(this.can);
  }

  /** Resolves when `count` frames have come in all. */
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

/** Lost frames, by the kernel's count. */
export function droppedBy(can: SocketCan): number {
  const { counts } = can.health();
  return (counts['dropped'] ?? Number.NaN) + (counts['interfaceDropped'] ?? Number.NaN);
}

/** Resolves when `condition` holds; rejects with `found` when it does not in good time. */
export async function until(what: string, condition: () => boolean, found: () => string): Promise<void> {
  const end = clock.monotonic() + PATIENCE;
  while (!condition()) {
    if (clock.monotonic() > end) throw new Error(`waited in vain for ${what}: ${found()}`);
    await pass(5);
  }
}

/** Lets `ms` pass: to see that nothing happens. */
export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

/** Checks by the sentence that they make true, in order. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

/** Runs checks one after the other, each on an interface `vcan0` of its own, and prints what came of each. */
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

/** Removes what a check made or left behind. */
function removeInterfaces(): void {
  const listed = execFileSync('ip', ['-o', 'link', 'show', 'type', 'vcan'], { encoding: 'utf8' });
  for (const [, name] of listed.matchAll(/^\d+: ([^:@]+)[:@]/gm)) ip(`link delete ${name}`);
}
