/** Commands to cars: kept in the audit trail and signed in one commit, then sent, and sent again until the car has answered. */

import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { commandTopic } from '../../protocol/command-topic.ts';
import { defined } from '../../protocol/defined.ts';
import type { CommandKind, RemoteStatus } from '../../protocol/schema/remote.ts';
import type { CallbackOrder, CommandStore, HubLog, KeptCommand, WallClock } from './ports.ts';

/** A car that is away for longer does not carry it out, ms. */
const VALID = 120_000;

/** States that nothing follows. */
export const finalStatuses: ReadonlySet<RemoteStatus> = new Set(['Success', 'AlreadyDone', 'Failed']);

/** A submitted command. */
export interface CommandOrder {
  /** The same id asks for the same command: nothing is done again. */
  readonly id: string;
  readonly vin: string;
  readonly type: CommandKind;
  /** Body of the command (protocol/command.ts). */
  readonly body: object;
  /** Entry of the audit trail in place of a long body. */
  readonly audited?: object;
  /** Who asks, for the audit trail. */
  readonly caller: string;
  /** Omitted: no callback receives its states. */
  readonly through?: CallbackOrder;
}

/** The key of the hub, which cars trust for the kinds they choose. */
export interface CommandKey {
  /** Hexadecimal. */
  readonly id: string;
  /** The payload signed (COSE_Sign1). */
  sign(payload: Uint8Array): Uint8Array;
}

interface CommandsParts {
  readonly store: Pick<CommandStore, 'add' | 'pending'>;
  readonly key: CommandKey;
  readonly clock: WallClock;
  readonly log: HubLog;
  /** Hands a message to the broker; rejects when it does not take it. */
  readonly publish: (topic: string, payload: Uint8Array) => Promise<void>;
}

export class HubCommands {
  readonly #parts: CommandsParts;

  constructor(parts: CommandsParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the command is on disk, with who asked for it; it is sent by then, or as soon as the car subscribes.
   * Rejects with `request.unknown` for a car that was never heard, `command.malformed` for a body that the kind does not
   * have, `store.failed` when the disk does not take it.
   */
  async submit({ id, vin, type, body, audited = body, caller, through }: CommandOrder): Promise<KeptCommand> {
    const { store, key, clock } = this.#parts;
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
   * Sends what a car has not answered yet and may still carry out: the car has subscribed, so it was away,
   * or the hub was. A car carries out a command once, however often it comes.
   */
  async resend(vin: string): Promise<void> {
    const { store, clock } = this.#parts;
    for (const command of await store.pending(vin, Math.round(clock.now()))) await this.#send(vin, command);
  }

  async #send(vin: string, { id, type, signed }: Pick<KeptCommand, 'id' | 'type' | 'signed'>): Promise<void> {
    try {
      await this.#parts.publish(commandTopic(vin, type), signed);
    } catch (error) {
      this.#parts.log.warn('hub.command.unsent', { vin, id, error: (error as Error).message });
    }
  }
}
