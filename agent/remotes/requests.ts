import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import type { FailureCause } from '../../protocol/errors.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteType } from '../../protocol/remote/table.ts';
import type { RemoteReport, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { Clock, Memory } from '../ports.ts';
import type { ArrivedCommand } from './command-intake.ts';
import { final } from './ledger.ts';

const KEY = 'requests';
/** Number of commands remembered, as in the ledger. */
const REMEMBERED = 256;
/** Validity in ms of a command from the car itself: it waits only for the car. */
const VALID = 120_000;

/** Signs a command; `payload` creates it with the counter that it uses. */
export interface Signer {
  sign(payload: (counter: number) => Uint8Array): Promise<Uint8Array>;
}

/** A command requested at the interface of the car. */
export interface RemoteOrder {
  /** Set if the request can be repeated: hexadecimal digits and `-`. If omitted, a new id. */
  readonly id?: string;
  /** The callback that receives its states, if any. */
  readonly callbackId?: string;
  readonly type: RemoteType;
  /** Body of the command. */
  readonly body: object;
  /** Request in the form of the interface (Remote). */
  readonly remote: Readonly<Record<string, unknown>>;
}

/** A command with a callback for its states. */
export type OrderOfCallback = RemoteOrder & Required<Pick<RemoteOrder, 'callbackId'>>;

/** State of a requested command. */
export interface RemoteAction {
  readonly remoteActionId: string;
  readonly callbackId?: string;
  readonly type: RemoteType;
  readonly remote: Readonly<Record<string, unknown>>;
  readonly status: RemoteStatus;
  readonly failureCause?: FailureCause;
  /** UTC ms */
  readonly createdAt: number;
}

/** Follows commands from every sender. */
interface CommandObserver {
  /** Called once, before its first state. */
  arrived(command: ArrivedCommand): void;
  /** Called with each state, before it is on disk. */
  reported(report: RemoteReport): void;
}

interface RequestsParts {
  readonly vin: string;
  readonly clock: Clock;
  /** Omitted if this unit has no key, so that it cannot sign commands. */
  readonly signer?: Signer | undefined;
  /** Processes a signed command, as if it had been received from the broker. */
  readonly receive: (payload: Uint8Array) => Promise<void>;
  /** Called for each command with a callback, before it is carried out. Throws the reason to refuse it. */
  readonly setOrigin?: (id: string, order: OrderOfCallback) => void;
}

/**
 * Commands requested at the interface of the car: each becomes a signed command, by a key of the unit, and is checked
 * like any other.
 */
export class Requests {
  readonly #parts: RequestsParts;
  readonly #actions = new Map<string, RemoteAction>();
  readonly #observers: CommandObserver[] = [];
  /** Commands with a first state that is not on disk yet. */
  readonly #unheard = new Map<string, () => void>();
  #made = 0;
  /** True if a change is not stored yet. */
  #changed = false;

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /** Returns the commands with this callback, oldest first. */
  all(callbackId: string): readonly RemoteAction[] {
    return [...this.#actions.values()].filter((action) => action.callbackId === callbackId);
  }

  get(id: string): RemoteAction | undefined {
    return this.#actions.get(id);
  }

  /**
   * Signs the command and passes it to the car; resolves when its first state is on disk. Later states are reported
   * when they occur. If the id was used before, it refers to that command: nothing is done. Rejects with
   * `command.unsupported` for a unit without a key, `command.malformed` for a body that the kind does not have, and
   * `store.failed` if the counter cannot be stored or the car does not accept the command, because its ledger has lost
   * something or the car's agent stops.
   */
  async submit(order: RemoteOrder): Promise<{ readonly remoteActionId: string }> {
    const { vin, clock, signer, receive, setOrigin } = this.#parts;
    if (signer === undefined)
      throw new VigieError('command.unsupported', 'this unit has no key for commands of its own');
    const { callbackId, type, body: asked, remote } = order;
    const body = encodeBody(type as CommandBodyKind, asked);
    const issued = Math.round(clock.now());
    if (order.id !== undefined && this.#actions.has(order.id)) return { remoteActionId: order.id };
    const id = order.id ?? `${Math.max(0, issued).toString(16)}-${(++this.#made).toString(16)}`;
    if (callbackId !== undefined) setOrigin?.(id, { ...order, callbackId });
    const payload = await signer.sign((counter) =>
      encodeCommand({ id, vin, kind: type, body, issued, expires: issued + VALID, counter }),
    );
    this.#actions.set(id, {
      remoteActionId: id,
      ...defined({ callbackId }),
      type,
      remote,
      status: 'Accepted',
      createdAt: issued,
    });
    this.#changed = true;
    for (const oldest of this.#actions.keys()) {
      if (this.#actions.size <= REMEMBERED) break;
      this.#actions.delete(oldest);
    }
    const heard = new Promise<boolean>((resolve) => this.#unheard.set(id, () => resolve(true)));
    // receive() never rejects: an error becomes a state of the command. A command without any state was not accepted.
    const taken = await Promise.race([heard, receive(payload).then(() => !this.#unheard.has(id))]);
    this.#unheard.delete(id);
    if (!taken) {
      this.#actions.delete(id);
      this.#changed = true;
      throw new VigieError('store.failed', 'the car cannot write commands down now: try again', { where: 'remote' });
    }
    return { remoteActionId: id };
  }

  /** Call when a state of the command is on disk. */
  heard(id: string): void {
    this.#unheard.get(id)?.();
    this.#unheard.delete(id);
  }

  /** Notifies `observer` of each command, from every sender. */
  observe(observer: CommandObserver): void {
    this.#observers.push(observer);
  }

  /** Call when an authentic new command is about to be carried out or refused. */
  arrived(command: ArrivedCommand): void {
    for (const observer of this.#observers) observer.arrived(command);
  }

  /** Call when a command has reached a state. */
  reported(report: RemoteReport): void {
    for (const observer of this.#observers) observer.reported(report);
    const { remoteActionId, status, failureCause } = report;
    const action = this.#actions.get(remoteActionId);
    if (action === undefined) return;
    this.#actions.set(remoteActionId, {
      ...action,
      status,
      ...defined({ failureCause }),
    });
    this.#changed = true;
  }

  /** Returns the changes since the last call: up to 256 commands. Few commits have any. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#changed) return;
    this.#changed = false;
    yield [KEY, { made: this.#made, actions: [...this.#actions.values()] }];
  }

  /**
   * Restores the state of the previous run. A command in progress that the ledger lacks was lost before its acceptance
   * was reported, and can be requested again.
   * @param isKnown returns true if the ledger has the command
   */
  recall(memory: Pick<Memory, 'recall'>, isKnown: (id: string) => boolean): void {
    const { made, actions } = (memory.recall(KEY) ?? {}) as { made?: unknown; actions?: unknown };
    if (typeof made !== 'number' || !Array.isArray(actions)) return;
    this.#made = made;
    for (const action of actions as readonly RemoteAction[]) {
      const { remoteActionId: id, status } = action;
      if (final(status) || isKnown(id)) this.#actions.set(id, action);
      else this.#changed = true;
    }
  }
}
