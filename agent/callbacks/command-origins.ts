/** Tracks unfinished commands that clients submitted through a callback, which receives their states. */
import { VigieError } from '../../protocol/errors.ts';
import type { Attribute } from '../../protocol/schema/callback/attributes.ts';
import { readAttributes } from '../../protocol/schema/callback/attributes.ts';
import type { ChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import { readChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import { Member } from '../../protocol/schema/monitor/input.ts';
import type { Log, Memory } from '../ports.ts';

const KEY = 'callbacks/remotes';
/** Maximum number of commands remembered. They finish within minutes; one that never does must not stay forever. */
const REMEMBERED = 256;

/** The callback through which a command was submitted, and the additional content of its notifications. */
export interface CommandOrigin {
  readonly callbackId: string;
  readonly label?: string;
  /** Interface 4.17.2 Remote.attributes, Remote.callbackAttributes. */
  readonly attributes?: readonly Attribute[];
  readonly callbackAttributes?: ChannelAttributes;
}

/**
 * Reads the callback of a command and the content of its notifications from the request (interface 4.17.2 Remote).
 * @throws VigieError `input.malformed`, `input.unknown` for invalid attributes
 */
export function commandOriginOf(callbackId: string, remote: Readonly<Record<string, unknown>>): CommandOrigin {
  const { label } = remote;
  const member = new Member(remote, '');
  const attributes = readAttributes(member.member('attributes'), 'userRemote');
  const callbackAttributes = readChannelAttributes(member.member('callbackAttributes'), 'userRemote');
  return {
    callbackId,
    ...(typeof label === 'string' ? { label } : {}),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(Object.keys(callbackAttributes).length === 0 ? {} : { callbackAttributes }),
  };
}

export class CommandOrigins {
  readonly #origins = new Map<string, CommandOrigin>();
  #changed = false;

  get(remoteActionId: string): CommandOrigin | undefined {
    return this.#origins.get(remoteActionId);
  }

  set(remoteActionId: string, origin: CommandOrigin): void {
    this.#origins.delete(remoteActionId);
    this.#origins.set(remoteActionId, origin);
    for (const id of this.#origins.keys()) {
      if (this.#origins.size <= REMEMBERED) break;
      this.#origins.delete(id);
    }
    this.#changed = true;
  }

  delete(remoteActionId: string): void {
    if (this.#origins.delete(remoteActionId)) this.#changed = true;
  }

  *states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#changed) return;
    this.#changed = false;
    yield [KEY, [...this.#origins]];
  }

  recall(memory: Pick<Memory, 'recall'>, log: Log): void {
    const kept = memory.recall(KEY);
    if (kept === undefined) return;
    try {
      for (const [id, origin] of kept as [string, CommandOrigin][]) {
        if (typeof id !== 'string' || typeof origin.callbackId !== 'string') {
          throw new VigieError('input.malformed', 'the stored value is not a list of commands', { where: KEY });
        }
        this.#origins.set(id, origin);
      }
    } catch (error) {
      log.error('callbacks.unreadable', { key: KEY, error: (error as Error).message });
    }
  }
}
