/**
 * Measures programs against each other. Each runs in a separate process, so that no program uses compiled code or a
 * heap that another left behind. They alternate round by round, so that other load on the machine affects all of them
 * equally.
 *
 * A program reads requests from standard input, one per line, and answers each with a line:
 *
 *     check   does the work once, untimed, and prints the result: equal work prints equal text
 *     round   does the work once and prints how many nanoseconds it took
 *     cost    does the work once and prints how many nanoseconds of processor time it took
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Number of warm-up rounds, which do not count. */
const WARMING = 3;

export interface Contestant {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  /** Number of rounds for a slow program, which then also warms up for only one round. */
  readonly rounds?: number;
}

export interface Standing {
  readonly name: string;
  /** Sorted durations of the rounds in ns. */
  readonly times: readonly number[];
  /** Durations of the rounds in ns, in the order in which the rounds ran. */
  readonly rounds: readonly number[];
  /** Result of `check`. */
  readonly outcome: string;
}

class Program {
  readonly contestant: Contestant;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  #complaints = '';

  constructor(contestant: Contestant) {
    this.contestant = contestant;
    this.#child = spawn(contestant.command, contestant.arguments, { stdio: 'pipe' });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
    // If the process fails, no more answers arrive. The error is reported where an answer is awaited.
    this.#child.on('error', (error) => {
      this.#complaints += error.message;
    });
    this.#child.stdin.on('error', () => undefined);
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask(request: string): Promise<string> {
    this.#child.stdin.write(`${request}\n`);
    const answer = await this.#answers.next();
    if (answer.done === true) throw new Error(`${this.contestant.name} gave no answer: ${this.#complaints}`);
    return answer.value;
  }

  /** Resolves when the process has exited and can therefore no longer write to a folder that is about to be removed. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    this.#child.stdin.end();
    if (pid !== undefined && exitCode === null && signalCode === null) await once(this.#child, 'exit');
  }
}

/** @throws Error when a program fails. */
export async function contest(contestants: readonly Contestant[], rounds: number): Promise<Standing[]> {
  const outcomes: string[] = [];
  for (const contestant of contestants) {
    // In a separate process, because functions that the check calls would remain in the inline caches of the measured
    // code.
    const program = new Program(contestant);
    outcomes.push(await program.ask('check'));
    await program.end();
  }
  const programs = contestants.map((contestant) => new Program(contestant));
  try {
    const times = programs.map((): number[] => []);
    // The first rounds only warm up pages, caches and compilers.
    for (let round = 1 - WARMING; round <= rounds; round++) {
      for (const [i, program] of programs.entries()) {
        const most = program.contestant.rounds ?? rounds;
        if (round > most || (most < rounds && round < 0)) continue;
        const time = Number(await program.ask('round'));
        if (round > 0) times[i]?.push(time);
      }
    }
    return programs.map(({ contestant }, i) => ({
      name: contestant.name,
      times: (times[i] ?? []).toSorted((a, b) => a - b),
      rounds: times[i] ?? [],
      outcome: outcomes[i] ?? '',
    }));
  } finally {
    await Promise.all(programs.map((program) => program.end()));
  }
}

/** Returns the median of sorted times. */
export function median(times: readonly number[]): number {
  const middle = times.length >> 1;
  const upper = times[middle] ?? Number.NaN;
  return times.length % 2 === 1 ? upper : ((times[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the contestants whose outcome differs from that of the first. Comparing their speed is worthless. */
export function disagreeing(standings: readonly Standing[]): string[] {
  const [first] = standings;
  return standings.filter(({ outcome }) => outcome !== first?.outcome).map(({ name }) => name);
}

/**
 * Returns the speed relative to the reference: the median of the ratios of all rounds. A slow phase of the machine
 * affects both programs in the same round, and if only one of them is delayed in a few rounds, the median does not
 * change.
 */
export function ratioTo(reference: Standing, { rounds }: Standing): number {
  return median(rounds.map((time, i) => (reference.rounds[i] ?? Number.NaN) / time).sort((a, b) => a - b));
}

/**
 * Returns the table cells for one contestant: name, millions per second in the median round, in the slowest and in the
 * fastest round, and the ratio to the reference ({@link ratioTo}).
 */
export function cells(standing: Standing, count: number, reference: Standing | undefined): string[] {
  const { name, times } = standing;
  const rate = (time: number | undefined) => figure((count / (time ?? Number.NaN)) * 1000);
  const ratio = reference === undefined ? '' : figure(ratioTo(reference, standing));
  return [name, rate(median(times)), `${rate(times.at(-1))} to ${rate(times[0])}`, ratio];
}

/** Formats a number with three significant digits; from 1 up, with at most two decimals. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '';
  return value >= 1 ? value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) : value.toPrecision(2);
}
