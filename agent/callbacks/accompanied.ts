/** Commands that were given through a callback, until they are finished: their states are told to it. */
import { VigieError } from '../../protocol/errors.ts';
import type { Attribute } from '../../protocol/schema/callback/attributes.ts';
import type { ChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import type { Log, Memory } from '../ports.ts';

const KEY = 'callbacks/remotes';
/** Commands finish within minutes; one that never does must not be remembered for ever. */
const REMEMBERED = 256;

/** Who is to be told of a command, and what goes along. */
export interface Company {
  readonly callbackId: string;
  readonly label?: string;
  /** Interface 4.17.2 Remote.attributes, Remote.callbackAttributes. */
  readonly attributes?: readonly Attribute[];
  readonly callbackAttributes?: ChannelAttributes;
}

export class Accompanied {
  readonly #company = new Map<string, Company>();
  #changed = false;

  get(remoteActionId: string): Company | undefined {
    return this.#company.get(remoteActionId);
  }

  set(remoteActionId: string, company: Company): void {
    this.#company.delete(remoteActionId);
    this.#company.set(remoteActionId, company);
    for (const id of this.#company.keys()) {
      if (this.#company.size <= REMEMBERED) break;
      this.#company.delete(id);
    }
    this.#changed = true;
  }

  delete(remoteActionId: string): void {
    if (this.#company.delete(remoteActionId)) this.#changed = true;
  }

  *states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#changed) return;
    this.#changed = false;
    yield [KEY, [...this.#company]];
  }

  recall(memory: Pick<Memory, 'recall'>, log: Log): void {
    const kept = memory.recall(KEY);
    if (kept === undefined) return;
    try {
      for (const [id, company] of kept as [string, Company][]) {
        if (typeof id !== 'string' || typeof company.callbackId !== 'string') {
          throw new VigieError('input.malformed', 'what was kept is no list of commands', { where: KEY });
        }
        this.#company.set(id, company);
      }
    } catch (error) {
      log.error('what was kept of callbacks cannot be read', { key: KEY, error: (error as Error).message });
    }
  }
}
