/** Sends commands to an adapter and matches its answers, one at a time. */
import type { Clock } from '../../../agent/ports.ts';

/** Answer of an adapter. `silent`: no answer in time. */
type Answer =
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'silent' };

interface Question {
  readonly command: string;
  readonly answer: (answer: Answer) => void;
  readonly abandon: (error: Error) => void;
}

/** Longest time in ms for an adapter, also a wireless one, to answer. */
const PATIENCE = 500;
/** Time in ms for an adapter that never answers to carry out a command. */
const PAUSE = 50;

export class SlcanConversation {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #clock: Clock;
  #question: Question | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #over: Error | undefined;
  /** True if the adapter confirms or refuses commands. Some adapters never do. */
  acknowledges: boolean | undefined;
  /** True if the adapter echoes commands. */
  echoes = false;

  constructor(write: (bytes: Uint8Array) => Promise<void>, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  /**
   * Sends a command after all earlier ones, and returns the answer. Rejects if the line is gone or does not accept the
   * command.
   */
  ask(command: string): Promise<Answer> {
    return this.#enqueue(command, true);
  }

  /** As {@link ask}, but does not wait for an adapter that never answers. */
  tell(command: string): Promise<Answer> {
    return this.#enqueue(command, false);
  }

  /** True if the line is gone. */
  get over(): boolean {
    return this.#over !== undefined;
  }

  /** The current command, or undefined if no answer is due. */
  get command(): string | undefined {
    return this.#question?.command;
  }

  /** Returns true if the line is an echo of the current command. */
  echoed(text: string): boolean {
    return this.#question !== undefined && text === this.#question.command;
  }

  /** Handles a confirmation, or the answer to `V`, `N` or `F`. */
  done(text: string): void {
    // Some adapters answer only the request for their version.
    if (text === '' || text === 'z' || text === 'Z') this.acknowledges = true;
    this.#question?.answer({ kind: 'done', text });
  }

  refused(): void {
    this.acknowledges = true;
    this.#question?.answer({ kind: 'refused' });
  }

  /** Ends the conversation because the line has ended: no more commands and answers. */
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
