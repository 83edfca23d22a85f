import { BrokenOff } from '../../agent/actuators.ts';
import type { ActionParameters, Actuator, Clock, FrameSender, MessageCodec } from '../../agent/ports.ts';
import { WAKE } from '../../agent/power/power.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Send } from '../../protocol/profile.ts';
import {
  type BitField,
  type BoundDatabase,
  DbcCodec,
  type DbcMessage,
  messageNamed,
  type Protection,
  protect,
  signalNamed,
} from './dbc/index.ts';
import { extremes, messagesOf, type SignalValues } from './parameters.ts';

/** A command of the profile. Without `send`, something other than frames carries it out. */
interface FrameCommand {
  readonly send?: Send | undefined;
}

/** A command with its counter and checksum from the network description. */
interface Prepared {
  readonly send: Send;
  readonly protection: Protection | undefined;
  /** Counter of a message without a checksum. */
  readonly counter: BitField | undefined;
}

type Commands = Readonly<Record<string, FrameCommand>>;

/**
 * Checks the commands of a profile against the network descriptions.
 * @returns the valid commands, and a diagnostic for each of the others
 */
export function prepareCommands(
  commands: Commands,
  bound: readonly BoundDatabase[],
): {
  prepared: ReadonlyMap<string, Prepared>;
  problems: readonly { action: string; message: string }[];
  codec: MessageCodec;
} {
  const prepared = new Map<string, Prepared>();
  const problems: { action: string; message: string }[] = [];
  const codec = new DbcCodec(bound);
  for (const [action, { send }] of Object.entries(commands)) {
    if (send === undefined) continue;
    try {
      const command = prepare(send, bound);
      // Check now that the signals can carry the values, not when a user is waiting at the car.
      for (const values of extremes(send.signals)) codec.encode(send.message, values);
      prepared.set(action, command);
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      problems.push({ action, message: error.message });
    }
  }
  return { prepared, problems, codec };
}

/** Executes commands as cyclic frames with counter and checksum, as defined by the profile. */
export class FrameActuator implements Actuator {
  readonly actions: ReadonlySet<string>;
  readonly #prepared: ReadonlyMap<string, Prepared>;
  readonly #codec: MessageCodec;
  readonly #sender: FrameSender | undefined;
  readonly #clock: Clock;
  readonly #sleeps: (bus: string) => boolean;
  /** Last counter value by message: receivers expect the count to continue from the last frame of any command. */
  readonly #counters = new Map<string, number>();

  /**
   * @param sender if omitted, the car cannot be commanded and no actions are offered
   * @param sleeps returns true if a bus sleeps: only the frames that wake the car are then sent on it
   */
  constructor(
    commands: Commands,
    bound: readonly BoundDatabase[],
    sender: FrameSender | undefined,
    clock: Clock,
    sleeps: (bus: string) => boolean = () => false,
  ) {
    const { prepared, codec } = prepareCommands(commands, bound);
    this.#prepared = prepared;
    this.#codec = codec;
    this.#sender = sender;
    this.#clock = clock;
    this.#sleeps = sleeps;
    this.actions = new Set(sender === undefined ? [] : this.#prepared.keys());
  }

  /** Returns true if the bus that the action needs sleeps. */
  asleep(action: string): boolean {
    const bus = this.#prepared.get(action)?.send.bus;
    return action !== WAKE && bus !== undefined && this.#sleeps(bus);
  }

  /**
   * @throws VigieError `command.unsupported`, `command.asleep`, the bus's rejection, or the error that `allowed`
   * throws; from the second frame on as {@link BrokenOff}
   */
  async actuate(action: string, parameters?: ActionParameters, allowed?: () => void): Promise<void> {
    const command = this.#prepared.get(action);
    if (command === undefined || this.#sender === undefined) {
      throw new VigieError('command.unsupported', `the vehicle profile has no ${action}`);
    }
    const { bus = '', every, for: duration } = command.send;
    const messages = messagesOf(command.send.signals, parameters);
    const repetitions = Math.max(1, Math.ceil(duration / every));
    const begun = this.#clock.monotonic();
    let heard = false;
    for (let sent = 0; sent < repetitions * messages.length; sent++) {
      if (sent > 0) await new Promise<void>((resolve) => this.#clock.after(every, resolve));
      try {
        allowed?.();
        if (this.asleep(action)) throw new VigieError('command.asleep', `bus ${bus} sleeps`, { where: bus });
        await this.#sender.send({ bus, ...this.#frame(command, messages[sent % messages.length] as SignalValues) });
        heard = true;
      } catch (error) {
        // Control units that wake up do not acknowledge the first frames.
        const mayWake = action === WAKE && error instanceof VigieError && error.code === 'command.actuation';
        const isLast = sent === repetitions * messages.length - 1 || this.#clock.monotonic() - begun >= duration;
        if (mayWake && !isLast) continue;
        if (mayWake && heard) return;
        throw sent > 0 && error instanceof VigieError ? new BrokenOff(error) : error;
      }
    }
  }

  #frame({ send, protection, counter }: Prepared, values: SignalValues): ReturnType<MessageCodec['encode']> {
    const count = this.#counters.get(send.message) ?? 0;
    this.#counters.set(send.message, count + 1);
    const signals =
      counter === undefined ? values : { ...values, [send.counter as string]: count % 2 ** counter.length };
    const frame = this.#codec.encode(send.message, signals);
    if (protection !== undefined) protect(frame.data, protection, count);
    return frame;
  }
}

function prepare(send: Send, bound: readonly BoundDatabase[]): Prepared {
  let message: DbcMessage | undefined;
  for (const { bus, database } of bound) {
    if (bus !== undefined && send.bus !== undefined && bus !== send.bus) continue;
    message ??= messageNamed(database, send.message);
  }
  if (message === undefined) throw new VigieError('configuration.wrong', `no DBC has the message ${send.message}`);
  for (const name of Object.keys(send.signals)) fieldOf(message, name);
  const counter = send.counter === undefined ? undefined : fieldOf(message, send.counter);
  if (send.checksum === undefined) return { send, protection: undefined, counter };
  return { send, protection: protectionOf(message, send.checksum, counter), counter: undefined };
}

function protectionOf(
  message: DbcMessage,
  { signal, method, dataId }: NonNullable<Send['checksum']>,
  counter: BitField | undefined,
): Protection {
  const { start, length, byteOrder } = fieldOf(message, signal);
  switch (method) {
    case 'autosar-p1':
      if (typeof dataId !== 'number' || counter === undefined) {
        throw new VigieError('configuration.wrong', 'autosar-p1 needs a dataId and a counter');
      }
      return { method: 'e2e-profile-1', dataId, crcOffset: start, counterOffset: counter.start };
    case 'autosar-p2':
      if (!Array.isArray(dataId) || dataId.length !== 16) {
        throw new VigieError('configuration.wrong', 'autosar-p2 needs a dataId list of 16 bytes');
      }
      return { method: 'e2e-profile-2', dataIds: dataId };
    default:
      return { method, start, length, byteOrder, ...defined({ counter }) };
  }
}

function fieldOf(message: DbcMessage, name: string): BitField {
  const signal = signalNamed(message, name);
  if (signal === undefined) throw new VigieError('configuration.wrong', `${message.name} has no signal ${name}`);
  return signal;
}
