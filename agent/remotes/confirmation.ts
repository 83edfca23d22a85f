import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Confirmation } from '../../protocol/profile.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import type { ChannelObserver, Channels } from '../model/channels.ts';
import type { Status, StatusObserver } from '../model/status.ts';
import type { Clock } from '../ports.ts';
import type { CommandEnd } from './diagnosis.ts';

/** Outcome of a wait for a result: it was shown, it was not shown in time, or another event ended the wait. */
type Ending = 'shown' | 'late' | CommandEnd;

interface WaitOptions {
  /** Events that end the wait early. */
  readonly ends?: readonly CommandEnd[];
  /** If true, only a change to the result counts: the previous command of this kind had the same confirmation. */
  readonly anew?: boolean;
}

interface Waiting {
  readonly leaf: Slot | Channel;
  readonly rule: Confirmation;
  readonly ends: readonly CommandEnd[];
  /** False while a shown result may still be that of an earlier command; if true, the result counts. */
  armed: boolean;
  /** Act of a person at the car against the command; it counts only if the result is not shown. */
  opposed: CommandEnd | undefined;
  /** Ends the wait; only the first call counts. */
  readonly settle: (ending: Ending) => void;
}

/** Watches Status (during waits) and channels for the result that the car must show before a command is done. */
export class Confirmations implements StatusObserver, ChannelObserver {
  readonly #status: Status;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #channels: Channels | undefined;
  #stopped = false;

  constructor(status: Status, clock: Clock) {
    this.#status = status;
    this.#clock = clock;
  }

  /** Observes these channels, too. */
  hear(channels: Channels): void {
    this.#channels = channels;
    channels.observe(this);
  }

  /** Returns true if the car shows the result now, by a reading that is not stale. */
  shown(rule: Confirmation): boolean {
    return satisfies(rule, this.#fresh(leafOf(rule)));
  }

  /**
   * Resolves as soon as the car shows the result or one of `ends`, otherwise after `within` ms. An act of the driver
   * alone ends nothing: an ordered lock still closes if the engine is started meanwhile.
   */
  async wait(rule: Confirmation, within: number, { ends = [], anew = false }: WaitOptions = {}): Promise<Ending> {
    if (!anew && this.shown(rule)) return 'shown';
    if (this.#stopped) return 'late';
    const leaf = leafOf(rule);
    const now = this.#fresh(leaf);
    const armed = !anew || (now !== undefined && !satisfies(rule, now));
    let settle: (ending: Ending) => void = () => undefined;
    const settled = new Promise<Ending>((resolve) => {
      settle = resolve;
    });
    const waiting: Waiting = { leaf, rule, ends, armed, opposed: undefined, settle };
    // An unchanged value that became fresh again also counts as shown.
    const cancel = this.#clock.after(within, () => settle(!anew && this.shown(rule) ? 'shown' : 'late'));
    if (this.#waiting.size === 0) this.#status.observe(this);
    this.#waiting.add(waiting);
    const ending = await settled;
    // By now all signals of the frame are applied, e.g. that the cable was unplugged and not only that power stopped.
    this.#waiting.delete(waiting);
    if (this.#waiting.size === 0) this.#status.unobserve(this);
    cancel();
    return ending === 'shown' ? ending : (waiting.opposed ?? ending);
  }

  /** Call when readings have ended. Ends all waits as too late, and cancels their timers. */
  stop(): void {
    this.#stopped = true;
    for (const { settle } of this.#waiting) settle('late');
  }

  changed(slot: Slot, value: SlotValue): void {
    this.#saw(slot, value);
  }

  channel(channel: Channel, value: SlotValue): void {
    this.#saw(channel, value);
  }

  sample(channel: Channel, value: SlotValue): void {
    this.#saw(channel, value);
  }

  #saw(leaf: Slot | Channel, value: SlotValue): void {
    if (this.#waiting.size === 0) return;
    for (const waiting of this.#waiting) {
      if (waiting.leaf === leaf) {
        const satisfied = satisfies(waiting.rule, value);
        if (satisfied && waiting.armed) {
          waiting.settle('shown');
          continue;
        }
        waiting.armed ||= !satisfied;
      }
      const end = waiting.ends.find((candidate) => candidate.slot === leaf && candidate.value === value);
      if (end?.code === 'command.canceled') waiting.opposed ??= end;
      else if (end !== undefined) waiting.settle(end);
    }
  }

  #fresh(leaf: Slot | Channel): SlotValue | undefined {
    const now = this.#clock.now();
    if ('object' in leaf) return this.#status.current(leaf, now) ? this.#status.value(leaf) : undefined;
    return this.#channels?.fresh(leaf, now) === true ? this.#channels.value(leaf) : undefined;
  }
}

function satisfies(rule: Confirmation, value: SlotValue | undefined): boolean {
  if (rule.includes !== undefined) return Array.isArray(value) && value.includes(rule.includes);
  return value !== undefined && value === rule.equals;
}

function leafOf({ path }: Confirmation): Slot | Channel {
  const leaf = slotByPath.get(path) ?? channelByPath.get(path);
  if (leaf === undefined) throw new VigieError('configuration.wrong', `there is no path ${path}`);
  return leaf;
}
