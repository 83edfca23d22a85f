/** Commands to cars: stored in the audit trail and signed in one commit, then sent until the car has answered. */

import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { commandTopic } from '../../protocol/command-topic.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { CallbackOrder, CommandStore, HubLog, KeptCommand, WallClock } from './ports.ts';

/** Time in ms for which a command is valid. A car that is away for longer does not carry it out. */
const VALID = 120_000;

/** A submitted command. */
export interface CommandOrder {
  /** Id of the command. An order with a known id has no further effect. */
  readonly id: string;
  readonly vin: string;
  readonly type: CommandKind;
  /** Body of the command (protocol/command.ts). */
  readonly body: object;
  /** Entry for the audit trail. Set if the body is too long for it. */
  readonly audited?: object;
  /** Caller of the request, for the audit trail. */
  readonly caller: string;
  /** Callback that receives the states of the command. If omitted, no callback does. */
  readonly through?: CallbackOrder;
}

/** Signing key of the hub. Cars trust it for the kinds of commands that they choose. */
export interface CommandKey {
  /** Hexadecimal. */
  readonly id: string;
  /** Returns the signed payload (COSE_Sign1). */
  sign(payload: Uint8Array): Uint8Array;
}

interface CommandsParts {
  readonly store: Pick<CommandStore, 'add' | 'pending' | 'answeredKey' | 'trustedKeys'>;
  /**
   * Returns the keys of the hub. The first one signs, unless the car has answered a command signed with another one.
   */
  readonly keys: () => readonly [CommandKey, ...CommandKey[]];
  readonly clock: WallClock;
  readonly log: HubLog;
  /** Passes a message to the broker. Rejects if the broker does not accept it. */
  readonly publish: (topic: string, payload: Uint8Array) => Promise<void>;
}

/** Returns true for the error of a command that no hub of the group can sign for the car. */
export function isUntrusted(error: unknown): error is VigieError {
  return error instanceof VigieError && error.code === 'command.untrusted';
}

export class HubCommands {
  readonly #parts: CommandsParts;

  constructor(parts: CommandsParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the command and its caller are on disk. By then the command is sent, or it will be sent when the car
   * subscribes. Rejects with `request.unknown` for a car without messages, with `command.malformed` for a body that
   * does not fit the kind, with `command.untrusted` if the car trusts no key of the hub for the kind, and with
   * `store.failed` if the database cannot write.
   */
  async submit({ id, vin, type, body, audited = body, caller, through }: CommandOrder): Promise<KeptCommand> {
    const { store, clock } = this.#parts;
    const key = await this.#keyFor(vin, type);
    const encoded = encodeBody(type as CommandBodyKind, body);
    const issued = Math.round(clock.now());
    const command = {
      id,
      vin,
      type,
      body: audited,
      caller,
      requested: issued,
      expires: issued + VALID,
      key: key.id,
      ...defined({ through }),
    };
    const { kept, isNew } = await store.add(command, (counter) =>
      key.sign(encodeCommand({ id, vin, kind: type, body: encoded, issued, expires: command.expires, counter })),
    );
    if (isNew) await this.#send(vin, kept);
    return kept;
  }

  /**
   * Sends all commands that a car has not answered and may still carry out. Call when the car subscribes, since it or
   * the hub was away. A car carries out a command once, however often the command arrives.
   */
  async resend(vin: string): Promise<void> {
    const { store, clock } = this.#parts;
    for (const command of await store.pending(vin, Math.round(clock.now()))) await this.#send(vin, command);
  }

  /** Submits a command of the hub itself. Resolves with false, and logs it, if no hub of the group can sign it. */
  async submitOwn(order: CommandOrder): Promise<boolean> {
    try {
      await this.submit(order);
      return true;
    } catch (error) {
      if (!isUntrusted(error)) throw error;
      this.#parts.log.warn('hub.command.untrusted', { vin: order.vin, type: order.type, error: error.message });
      return false;
    }
  }

  /** Resolves with the reason why no hub of the group can sign commands of a kind for the car, or with undefined. */
  async untrusted(vin: string, type: CommandKind): Promise<string | undefined> {
    try {
      await this.#keyFor(vin, type);
      return undefined;
    } catch (error) {
      if (!isUntrusted(error)) throw error;
      return error.message;
    }
  }

  /** A car answers only commands that are signed with a key that it trusts. @throws VigieError `command.untrusted` */
  async #keyFor(vin: string, type: CommandKind): Promise<CommandKey> {
    const { store, keys } = this.#parts;
    const [first, ...others] = keys();
    const trusted = await store.trustedKeys(vin);
    if (trusted !== undefined) {
      const accepted = trusted.filter(({ kinds }) => kinds.includes(type)).map(({ id }) => id);
      const key = [first, ...others].find(({ id }) => accepted.includes(id));
      if (key !== undefined) return key;
      const own = [first, ...others].map(({ id }) => id).join(', ');
      throw new VigieError(
        'command.untrusted',
        `the car trusts ${accepted.join(', ') || 'no key'} for ${type}, but this hub signs with ${own}: copy keys/trust.json of the hub to the trust file of the car, with ${type} among its kinds`,
      );
    }
    if (others.length === 0) return first;
    const answered = await store.answeredKey(vin);
    return others.find(({ id }) => id === answered) ?? first;
  }

  async #send(vin: string, { id, type, signed }: Pick<KeptCommand, 'id' | 'type' | 'signed'>): Promise<void> {
    try {
      await this.#parts.publish(commandTopic(vin, type), signed);
    } catch (error) {
      this.#parts.log.warn('hub.command.unsent', { vin, id, error: (error as Error).message });
    }
  }
}
