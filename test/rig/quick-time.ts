/**
 * Time of a car that passes several times faster than that of the machine. As a preloaded module (`--import`), it
 * changes the clocks and timers of a whole process.
 */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../agent/ports.ts';

/** Environment variable with the start and the factor, separated by a blank. */
const VARIABLE = 'QUICK_TIME';

export class QuickTime implements Clock {
  /** UTC ms at which both times are equal. */
  readonly since: number;
  readonly factor: number;
  readonly #now = Date.now;
  readonly #monotonic = performance.now.bind(performance);
  readonly #timer = setTimeout;

  constructor(since: number, factor: number) {
    this.since = since;
    this.factor = factor;
  }

  now(): number {
    return this.since + (this.#now() - this.since) * this.factor;
  }

  monotonic(): number {
    return this.#monotonic() * this.factor;
  }

  after(delay: number, due: () => void): () => void {
    const timer = this.#timer(due, delay / this.factor);
    return () => clearTimeout(timer);
  }

  /** Words before a command that make its process use this time. */
  get prefix(): readonly string[] {
    return ['env', `NODE_OPTIONS=--import=${import.meta.url}`, `${VARIABLE}=${this.since} ${this.factor}`];
  }

  /** Applies this time to the process. */
  apply(): void {
    const { factor } = this;
    const passed = os.uptime;
    Date.now = () => Math.round(this.now());
    performance.now = () => this.monotonic();
    os.uptime = () => passed() * factor;
    for (const name of ['setTimeout', 'setInterval'] as const) {
      const set = globalThis[name] as (due: () => void, delay?: number, ...more: unknown[]) => NodeJS.Timeout;
      Object.assign(globalThis, {
        [name]: (due: () => void, delay = 0, ...more: unknown[]) => set(due, delay / factor, ...more),
      });
    }
    syncBuiltinESMExports();
  }
}

const [since, factor] = (process.env[VARIABLE] ?? '').split(' ').map(Number);
if (since !== undefined && factor !== undefined) new QuickTime(since, factor).apply();
