/** Sends commands to an adapter and matches its answers, one at a time. */
import type { Clock } from '../../../agent/ports.ts';

/** `silent`: the adapter said nothing in time. */
type Answer =
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'silent' };

interface Question {
  readonly command: string;
  readonly answer: (answer: Answer) => void;
  readonly abandon: (error: Error) => void;
}

/** How long an adapter may take to answer, a wireless one included. ms */
const PATIENCE = 500;
/** One that does not answer at all gets this long to carry a command out. ms */
const PAUSE = 50;

export class SlcanConversation {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #clock: Clock;
  #question: Question | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #over: Error | undefined;
  /** The adapter confirms or refuses commands. Some adapters never do. */
  acknowledges: boolean | undefined;
  /** The adapter echoes commands. */
  echoes = false;

  constructor(write: (bytes: Uint8Array) => Promise<void>, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  /**
   * Gives a command, after those that were given before, and what is said to it. Rejects when the line is gone or takes
   * nothing.
   */
  ask(command: string): Promise<Answer> {
    return this.#enqueue(command, true);
  }

  /** As {@link ask}, but an adapter that never answers is not waited for. */
  tell(command: string): Promise<Answer> {
    return this.#enqueue(command, false);
  }

  /** The line is gone. */
  get over(): boolean {
    return this.#over !== undefined;
  }

  /** The running command. Undefined if no answer is due. */
  get command(): string | undefined {
    return this.#question?.command;
  }

  /** True if the line is an echo of the running command. */
  echoed(text: string): boolean {
    return this.#question !== undefined && text === this.#question.command;
  }

  /** An adapter's yes, or its word on `V`, `N` and `F`. */
  done(text: string): void {
    // Some adapters answer only the question for their version.
    if (text === '' || text === 'z' || text === 'Z') this.acknowledges = true;
    this.#question?.answer({ kind: 'done', text });
  }

  refused(): void {
    this.acknowledges = true;
    this.#question?.answer({ kind: 'refused' });
  }

  /** The line has ended: no more commands and answers. */
  end(reason: string): void {
    this.#over = new Error(reason);
    this.#question?.abandon(this.#over);
  }

  #enqueue(command: string, waits: boolean): Promise<Answer> {
    const asked = this.#queue.then(() => this.#ask(command, waits));
    this.#queue = asked.catch(() => undefined);
    return asked;
  }

  async #ask(command: string, waits: boolean): Promise<Answer> {
    if (this.#over !== undefined) throw this.#over;
    const patient = this.acknowledges !== false;
    let taken = false;
    let cancel: () => void = () => undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const late = (): void => {
          if (taken) resolve({ kind: 'silent' });
          else reject(new Error('the line takes nothing'));
        };
        cancel = this.#clock.after(patient || !waits ? PATIENCE : PAUSE, () => {
          if (taken) late();
          else cancel = this.#clock.after(PATIENCE, late);
        });
        this.#question = { command, answer: resolve, abandon: reject };
        this.#write(new TextEncoder().encode(`${command}\r`)).then(() => {
          taken = true;
          if (!patient && !waits) resolve({ kind: 'silent' });
        }, reject);
      });
    } finally {
      cancel();
      this.#question = undefined;
    }
  }
}
