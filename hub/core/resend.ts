/**
 * Requests missing messages from cars again. A broker lost them after acknowledging them, or an older copy of the
 * database was restored. Due times are in the database, so only one of several hubs sends a request, and no request is
 * lost or repeated after a restart.
 */
import type { Run } from '../../protocol/runs.ts';
import type { CommandOrder, HubCommands } from './commands.ts';
import { Looks } from './looks.ts';
import type { DueNumbers, HubLog, KeptCommand, NumbersStore, ResendStore, Timer, WallClock } from './ports.ts';

/** Time in ms between two checks for due requests. */
const EVERY = 5_000;
/** Largest number of classes, counted over all cars, in one check: a whole fleet is processed in small parts. */
const MOST = 100;
/** Time in ms after which a car without messages counts as away. The hub asks it after its next message. */
const AWAY = 300_000;
/** Largest number of runs in one command. The schema of the command allows no more. */
const MOST_RUNS = 256;
/** Caller in the audit trail. */
const CALLER = 'hub';

interface ResendParts {
  readonly store: ResendStore & Pick<NumbersStore, 'numbers'>;
  readonly commands: Pick<HubCommands, 'submit' | 'submitOwn'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** Returns the wait in ms before the first request, as messages may be in transit, and after each request. */
  readonly wait: (attempts: number) => number;
  readonly newId: () => string;
  readonly log: HubLog;
}

export class ResendRequests {
  readonly #parts: ResendParts;
  readonly #looks: Looks;

  constructor(parts: ResendParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Starts the regular requests. */
  begin(): void {
    this.#looks.begin();
  }

  /** Stops the requests. Resolves when no request is running. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /**
   * Requests all missing messages of a car now, with one command for each class. Resolves with undefined for a car
   * without messages. Rejects as {@link HubCommands.submit} does.
   */
  async ask(vin: string, caller: string): Promise<readonly KeptCommand[] | undefined> {
    const classes = await this.#parts.store.numbers(vin);
    if (classes === undefined) return undefined;
    const asked: KeptCommand[] = [];
    for (const { class: priority, missing } of classes) {
      if (missing.length > 0)
        asked.push(await this.#parts.commands.submit(this.#order(vin, priority, missing, caller)));
    }
    return asked;
  }

  /** Never rejects. The next check retries after a failure. */
  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    try {
      for (const one of await store.dueNumbers(Math.round(clock.now()), MOST)) {
        if (this.#looks.stopped) return;
        await this.#serve(one);
      }
    } catch (error) {
      log.warn('hub.resend.failed', { error: (error as Error).message });
    }
  }

  async #serve(one: DueNumbers): Promise<void> {
    const { store, commands, clock, wait, log } = this.#parts;
    const { vin, class: priority, missing, attempts, requested, lastSeen } = one;
    const now = Math.round(clock.now());
    const count = missing.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const due = (after: number): number => now + Math.round(wait(after));
    if (attempts === 0 || lastSeen < now - AWAY) {
      await store.putOff(one, { due: due(0), attempts: Math.max(1, attempts), requested });
      return;
    }
    // If some of the requested messages arrived, the car does answer: restart the count of attempts.
    const made = count < requested ? 1 : attempts;
    if (!(await store.putOff(one, { due: due(made), attempts: made + 1, requested: count }))) return;
    if (!(await commands.submitOwn(this.#order(vin, priority, missing, CALLER)))) return;
    log.info('hub.resend.requested', { vin, class: priority, missing: count });
  }

  #order(vin: string, priority: number, missing: readonly Run[], caller: string): CommandOrder {
    const body = { class: priority, numbers: missing.slice(0, MOST_RUNS) };
    return { id: this.#parts.newId(), vin, type: 'Resend', body, caller };
  }
}
