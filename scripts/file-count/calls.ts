/** Which of our files a call happens in, as V8 counts it. */
import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Stand-ins of this count: the car, and a clock that the count advances. */
const standIns = /^(adapters\/simulated\/|adapters\/clock\/replay\.ts$)/;
const root = fileURLToPath(new URL('../../', import.meta.url));

export class CallCount {
  readonly #session = new Session();

  /** From here on V8 counts every call. */
  static async begin(): Promise<CallCount> {
    const count = new CallCount();
    count.#session.connect();
    await count.#session.post('Profiler.enable');
    await count.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return count;
  }

  /** Files of the agent in which a function was called at least so often since the last time, in order of their names. */
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
