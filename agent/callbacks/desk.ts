import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Callback, CallbackSide, CallbackStatus } from '../../protocol/schema/callback.ts';
import type { Callbacks } from './callbacks.ts';
import type { CommandOrigin } from './command-origins.ts';

/** Creates, changes and deletes callbacks for all interfaces. Each change is on disk before the call resolves. */
export class CallbackDesk {
  readonly #callbacks: Callbacks;

  constructor(callbacks: Callbacks) {
    this.#callbacks = callbacks;
  }

  list(side?: CallbackSide): readonly Callback[] {
    return this.#callbacks.list(side);
  }

  get(id: string): Callback | undefined {
    return this.#callbacks.get(id);
  }

  /** As {@link Callbacks.put}; resolves when the change is on disk. Rejects with `store.failed` if the disk refuses. */
  async put(side: CallbackSide, id: string, input: unknown, status?: CallbackStatus): Promise<Callback> {
    const callback = this.#callbacks.put(side, id, input, status);
    await this.#callbacks.saved();
    return callback;
  }

  /** As {@link Callbacks.setStatus}; resolves when the change is on disk. */
  async setStatus(id: string, status: CallbackStatus): Promise<Callback> {
    const callback = this.#callbacks.setStatus(id, status);
    await this.#callbacks.saved();
    return callback;
  }

  /** As {@link Callbacks.remove}; resolves when the change is on disk. */
  async remove(id: string): Promise<boolean> {
    const found = this.#callbacks.remove(id);
    await this.#callbacks.saved();
    return found;
  }

  /** Carries out a command of kind `Callback`. */
  readonly order = async (body: Uint8Array): Promise<void> => {
    const { callbackId, side, subscribe, status, remove } = decodeBody('Callback', body);
    if (subscribe !== undefined && side !== undefined) await this.put(side, callbackId, subscribe, status);
    else if (status !== undefined) await this.setStatus(callbackId, status);
    else if (remove === true) await this.remove(callbackId);
    else throw new VigieError('command.malformed', 'it gives no callback and no status, and removes none');
  };

  /** As {@link Callbacks.checkMonitor}. */
  checkMonitor(side: CallbackSide, parameter: unknown): void {
    this.#callbacks.checkMonitor(side, parameter);
  }

  /** As {@link Callbacks.setOrigin}; stored in the commit of the command's first state. */
  setOrigin(remoteActionId: string, origin: CommandOrigin): void {
    this.#callbacks.setOrigin(remoteActionId, origin);
  }
}
