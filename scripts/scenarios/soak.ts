/**
 * `npm run soak`: runs the scripted day of the bench car at 100× through the whole agent and a real Mosquitto, over a
 * connection that is cut, stalled or unavailable every few minutes, with a restart of the broker and an outage that
 * overflows the outbox. Fails unless every stored number arrived or is in a gap record, none arrived twice after the
 * receiver's check, and the memory is flat. Takes a quarter of an hour.
 *
 *     npm run soak -- --speed 400 --seed 7
 */
import { runSoak, type SoakProgress } from './failing-way.ts';
import type { RunnableScenario } from './scenario.ts';

const HOUR = 3_600_000;
/** Largest growth of memory in bytes from the first drive to the day's end: records are indexed in memory. */
const FLAT = 12 * 2 ** 20;

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const progress = ({ elapsed, published, waiting, memory }: SoakProgress): void => {
  const hour = String(Math.floor(elapsed / HOUR)).padStart(2, '0');
  console.log(`${hour}:00  ${published} published, ${waiting} waiting, ${mib(memory)} MiB held`);
};
export const soak: RunnableScenario<{ readonly speed: number; readonly seed: number }> = {
  options: { speed: 100, seed: 1 },
  async run({ speed, seed }) {
    const { account, troubles, link, samples, faults, took } = await runSoak({
      from: '00:00:00',
      length: 24 * HOUR,
      speed,
      every: 240_000,
      outage: { at: 19 * HOUR + HOUR / 2, lasts: 0.6 * HOUR },
      limit: 4_000,
      seed,
      progress,
    });
    const kinds = new Map<string, number>();
    for (const { kind } of troubles) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    console.log(
      `${(took / 60_000).toFixed(1)} minutes; ${[...kinds].map(([kind, count]) => `${count} × ${kind}`).join(', ')}`,
    );
    console.log(
      `link: ${link.attempts} attempts, ${link.ups} times up, ${link.rejected} publishes lost and made again`,
    );
    console.log(
      `${account.published} published, ${account.received} received in ${account.deliveries} deliveries, ` +
        `${account.missing} missing, ${account.gaps.reduce((sum, { count }) => sum + count, 0)} of them in gap records`,
    );
    const early = samples[8]?.memory ?? 0;
    const late = samples.at(-1)?.memory ?? 0;
    console.log(`memory: ${mib(early)} MiB held at 08:00, ${mib(late)} MiB at the end`);
    const problems = [...account.faults];
    if (faults > 0) problems.push(`${faults} defects in the agent`);
    if (late - early > FLAT) problems.push('the memory is not flat');
    if (account.gaps.length === 0)
      problems.push('the outage did not overflow the outbox: nothing was shown of gap records');
    return problems;
  },
};
