/** Facts that the car itself does not report about a run of the preconditioning. */
import type { RemoteType } from '../../protocol/remote/table.ts';
import { type Slot, type SlotValue, slotAt } from '../../protocol/slots.ts';
import type { StatusWriter } from '../model/mapping.ts';
import type { StatusObserver } from '../model/status.ts';

const slot = (name: string): Slot => slotAt(`preconditioning.airConditioning.${name}`);
const state = slot('status');
const startingCause = slot('startingCause');
const failureCause = slot('failureCause');

/**
 * The agent stores the programs, and a program starts the preconditioning by the same request as a command: only the
 * agent knows that the run was scheduled. A car can continue to report an earlier failure: a run that works
 * clears it.
 */
export class PreconditioningRuns implements StatusObserver {
  readonly watches = [state];
  readonly #writer: StatusWriter;
  /** True while a program starts the preconditioning. */
  #starting = false;
  #scheduled = false;

  constructor(writer: StatusWriter) {
    this.#writer = writer;
  }

  /** Runs `work`, which a program started. */
  async during(type: RemoteType, work: () => Promise<void>): Promise<void> {
    const starts = type === 'ThermalPreconditioning';
    if (starts) this.#starting = true;
    try {
      await work();
    } finally {
      if (starts) this.#starting = false;
    }
  }

  changed(_slot: Slot, value: SlotValue, _previous: SlotValue | undefined, at: number): void {
    if (value === 'Failure') this.#writer.release(failureCause, at);
    if (value === 'Enabled') {
      this.#scheduled = this.#starting;
      if (this.#scheduled) this.#writer.overrule(startingCause, 'Scheduled', at);
      else this.#writer.release(startingCause, at);
    }
    if (value === 'Enabled' || value === 'Finished') this.#writer.retract(failureCause, at);
  }

  /** True if a program started the present run, or the last one. */
  get isScheduled(): boolean {
    return this.#scheduled;
  }

  /** Restores the fact that a program started the run, known from an earlier run of the agent. */
  restore(at: number): void {
    this.#scheduled = true;
    this.#writer.overrule(startingCause, 'Scheduled', at);
  }
}
