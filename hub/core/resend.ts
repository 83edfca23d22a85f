/**
 * Asks cars to send messages again that are missing here: a broker lost them after it had acknowledged them, or an older
 * copy of the database was put back. When it is time is in the database, so that of several hubs one asks, and a restart
 * changes nothing.
 */
import type { Run } from '../../protocol/runs.ts';
import type { HubCommands } from './commands.ts';
import { Looks } from './looks.ts';
import type { DueNumbers, HubLog, KeptCommand, NumbersStore, ResendStore, Timer, WallClock } from './ports.ts';

/** Between two looks at what is due, ms. */
const EVERY = 5_000;
/** Classes of cars in one round: a whole fleet is asked in small parts. */
const MOST = 100;
/** A car without messages for longer is away. It is asked after its next message. ms */
const AWAY = 300_000;
/** Runs of one command: its schema takes no more. */
const MOST_RUNS = 256;
/** Who asks, in the audit trail. */
const CALLER = 'hub';

interface ResendParts {
  readonly store: ResendStore & Pick<NumbersStore, 'numbers'>;
  readonly commands: Pick<HubCommands, 'submit'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** How long to wait, ms: before the first request, so that messages on their way arrive, and after each of the others. */
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

  /** Asks by itself from now on. */
  begin(): void {
    this.#looks.begin();
  }

  /** Resolves when no request is running. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /**
   * Asks a car now for all that is missing, one command for each class. Resolves with undefined for a car that was never
   * heard; rejects as {@link HubCommands.submit} does.
   */
  async ask(vin: string, caller: string): Promise<readonly KeptCommand[] | undefined> {
    const classes = await this.#parts.store.numbers(vin);
    if (classes === undefined) return undefined;
    const asked: KeptCommand[] = [];
    for (const { class: priority, missing } of classes) {
      if (missing.length > 0) asked.push(await this.#submit(vin, priority, missing, caller));
    }
    return asked;
  }

  /** Never rejects: what failed is tried at the next look. */
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
    const { store, clock, wait, log } = this.#parts;
    const { vin, class: priority, missing, attempts, requested, lastSeen } = one;
    const now = Math.round(clock.now());
    const count = missing.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const due = (after: number): number => now + Math.round(wait(after));
    if (attempts === 0 || lastSeen < now - AWAY) {
      await store.putOff(one, { due: due(0), attempts: Math.max(1, attempts), requested });
      return;
    }
    // If a part of the requested messages has arrived, the car does answer.
    const made = count < requested ? 1 : attempts;
    if (!(await store.putOff(one, { due: due(made), attempts: made + 1, requested: count }))) return;
    log.info('hub.resend.requested', { vin, class: priority, missing: count });
    await this.#submit(vin, priority, missing, CALLER);
  }

  #submit(vin: string, priority: number, missing: readonly Run[], caller: string): Promise<KeptCommand> {
    const { commands, newId } = this.#parts;
    const body = { class: priority, numbers: missing.slice(0, MOST_RUNS) };
    return commands.submit({ id: newId(), vin, type: 'Resend', body, caller });
  }
}
