/** Reports in which of our files functions are called, as counted by V8. */
import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Replacements of real parts in this count: the simulated car, and a clock that the count advances. */
const standIns = /^(adapters\/simulated\/|adapters\/clock\/replay\.ts$)/;
const root = fileURLToPath(new URL('../../', import.meta.url));

export class CallCount {
  readonly #session = new Session();

  /** Starts V8's precise counting of calls. */
  static async begin(): Promise<CallCount> {
    const count = new CallCount();
    count.#session.connect();
    await count.#session.post('Profiler.enable');
    await count.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return count;
  }

  /**
   * Returns the agent's files in which a function was called at least `least` times since the previous call of this
   * method, sorted by name.
   */
  async take(least = 1): Promise<readonly string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.startsWith('file:'))
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= least))
      .map(({ url }) => relative(root, fileURLToPath(url)).split(sep).join('/'))
      .filter((file) => !/^(\.\.|node_modules|scripts)\//.test(file) && !standIns.test(file))
      .sort();
  }

  end(): void {
    this.#session.disconnect();
  }
}
