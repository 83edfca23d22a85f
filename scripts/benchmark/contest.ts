/**
 * Measures programs against each other. Each lives in its own process, so that none finds the compiled code or the
 * heap that another left, and they take turns round by round, so that what else the machine does hits all alike.
 *
 * A program reads requests from standard input, a line each, and answers with a line:
 *
 *     check   does the work once, apart from the clock, and says what came out: equal work gives equal text
 *     round   does the work once and says how many nanoseconds it took
 *     cost    does the work once and says how many nanoseconds of processor time it took
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Rounds that do not count. */
const WARMING = 3;

export interface Contestant {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  /** Takes part in this many rounds only, because it is slow; warms up once. */
  readonly rounds?: number;
}

export interface Standing {
  readonly name: string;
  /** Nanoseconds of each round, sorted. */
  readonly times: readonly number[];
  /** The same, round by round. */
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
    // A failure of the process ends its answers, and is reported there.
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

  /** Resolves once the process is gone, and writes no file into a folder that is removed then. */
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
    // In a process of its own: what the check calls would stay in the inline caches of what is measured.
    const program = new Program(contestant);
    outcomes.push(await program.ask('check'));
    await program.end();
  }
  const programs = contestants.map((contestant) => new Program(contestant));
  try {
    const times = programs.map((): number[] => []);
    // The first rounds warm up: pages, caches, compilers.
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

/** The middle of sorted times. */
export function median(times: readonly number[]): number {
  const middle = times.length >> 1;
  const upper = times[middle] ?? Number.NaN;
  return times.length % 2 === 1 ? upper : ((times[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Names of contestants with another outcome than the first. A comparison with such contestants is worthless. */
export function disagreeing(standings: readonly Standing[]): string[] {
  const [first] = standings;
  return standings.filter(({ outcome }) => outcome !== first?.outcome).map(({ name }) => name);
}

/**
 * How many times as fast as the reference: the median over the rounds of what the ratio was in each. What slows a whole
 * round of the machine hits both, and what hits one of them does not decide.
 */
export function ratioTo(reference: Standing, { rounds }: Standing): number {
  return median(rounds.map((time, i) => (reference.rounds[i] ?? Number.NaN) / time).sort((a, b) => a - b));
}

/**
 * Cells of one contestant: name, millions per second by the median round, slowest to fastest round, and the ratio to
 * the reference by {@link ratioTo}.
 */
export function cells(standing: Standing, count: number, reference: Standing | undefined): string[] {
  const { name, times } = standing;
  const rate = (time: number | undefined) => figure((count / (time ?? Number.NaN)) * 1000);
  const ratio = reference === undefined ? '' : figure(ratioTo(reference, standing));
  return [name, rate(median(times)), `${rate(times.at(-1))} to ${rate(times[0])}`, ratio];
}

/** Three digits that matter, two behind the point at most from 1 up. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '';
  return value >= 1 ? value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) : value.toPrecision(2);
}
