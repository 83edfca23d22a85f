/** Numbers of the messages that an export contains, and of those that it lacks, so that its completeness can be checked. */
import { isUnrecorded, Lives, lifeOf } from '../../hub/core/lives.ts';
import { classes } from '../../protocol/classes.ts';
import { defined } from '../../protocol/defined.ts';
import type { MessageLine, UnusedNumbers } from '../../protocol/interface/own/message-pages.ts';
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';

/** Numbers of one class within a life of the car's folder of records. */
interface Numbers {
  readonly class: number;
  readonly firstBoot: number;
  readonly present: Runs;
  readonly before: Runs;
  readonly after: Runs;
  readonly covered: Map<number, Runs>;
  readonly givenUp: Runs;
  hidden: number;
}

/** ExportedNumbers of one class and life in the manifest. Runs are [first, last]. */
export interface ClassCoverage {
  readonly class: number;
  readonly name: string;
  /** `boot` of the first message of this life of the folder of records. */
  readonly life: number;
  readonly boots: readonly { readonly boot: number; readonly covered: readonly Run[] }[];
  /** The car gave these up: they exist nowhere. */
  readonly givenUp: readonly Run[];
  /** The source does not have these, although the car gave their numbers out. */
  readonly missing: readonly Run[];
  /** The source has no message before this number of the class, so that earlier ones may belong to the period. */
  readonly startsAt?: number;
  /** Number of messages that the token may not see. */
  readonly hidden?: number;
}

export class ExportedNumbers {
  readonly #lives = new Lives();
  readonly #numbers = new Map<string, Numbers>();

  unused({ class: priority, boot, numbers: [first, last], side }: UnusedNumbers): void {
    const numbers = this.#of(priority, boot);
    numbers.present.add(first, last);
    if (side < 0) numbers.before.add(first, last);
    if (side > 0) numbers.after.add(first, last);
  }

  cover({ class: priority, boot, seq, body }: MessageLine): void {
    const numbers = this.#of(priority, boot);
    numbers.present.add(seq);
    if (body === undefined) {
      numbers.hidden++;
      return;
    }
    const covered = numbers.covered.get(boot) ?? new Runs();
    numbers.covered.set(boot, covered);
    covered.add(seq);
  }

  giveUp(boot: number, { class: priority, numbers: runs = [] }: Gap): void {
    const { givenUp } = this.#of(priority, boot);
    for (const [first, last] of runs) if (first <= last) givenUp.add(first, last);
  }

  /** Returns the coverage of these classes, without those of which the period has nothing. */
  report(wanted: ReadonlySet<number>): readonly ClassCoverage[] {
    return [...this.#numbers.values()]
      .filter((numbers) => wanted.has(numbers.class))
      .flatMap((numbers) => reportOf(numbers) ?? [])
      .sort((a, b) => a.class - b.class);
  }

  #of(priority: number, boot: number): Numbers {
    const start = this.#lives.startOf(boot);
    // A start without records counts its messages from 0.
    const life = isUnrecorded(start) ? `start ${boot}` : `life ${lifeOf(start)}`;
    const key = `${priority} ${life}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const sets = { present: new Runs(), before: new Runs(), after: new Runs(), givenUp: new Runs() };
    const made: Numbers = { class: priority, firstBoot: boot, ...sets, covered: new Map(), hidden: 0 };
    this.#numbers.set(key, made);
    return made;
  }
}

function reportOf(numbers: Numbers): ClassCoverage | undefined {
  const { class: priority, firstBoot, present, before, after, covered, givenUp, hidden } = numbers;
  const boots = [...covered].sort(([a], [b]) => a - b).map(([boot, runs]) => ({ boot, covered: runs.all }));
  const own = boots.flatMap((one) => one.covered);
  const [lowest, highest] = [Math.min(...own.map(([first]) => first)), Math.max(...own.map(([, last]) => last))];
  const below = before.all.findLast(([first]) => own.length === 0 || first < lowest)?.[1];
  const above = after.all.find(([, last]) => last > (own.length === 0 ? (below ?? -1) : highest))?.[0];
  if (own.length === 0 && hidden === 0 && (below === undefined || above === undefined)) return undefined;
  const from = below === undefined ? lowest : Math.min(below + 1, lowest);
  const to = above === undefined ? highest : Math.max(above - 1, highest);
  const missing = new Runs();
  if (from <= to) missing.add(from, to);
  for (const [first, last] of [...present.all, ...givenUp.all]) missing.remove(first, last);
  const lost = new Runs();
  for (const [first, last] of givenUp.all) {
    if (first <= to && last >= from) lost.add(Math.max(first, from), Math.min(last, to));
  }
  for (const [first, last] of present.all) lost.remove(first, last);
  const isOpen = below === undefined && Number.isFinite(lowest) && lowest > 0;
  return {
    class: priority,
    name: classes[priority]?.name ?? String(priority),
    life: firstBoot,
    boots,
    givenUp: lost.all,
    missing: missing.all,
    ...defined({ startsAt: isOpen ? lowest : undefined, hidden: hidden === 0 ? undefined : hidden }),
  };
}
