import type { WantedSignal } from '../../../agent/ports.ts';
import { nearest } from '../../../protocol/nearest.ts';
import { type DbcMessage, signalNamed } from './database.ts';
import { readable } from './layout.ts';
import { type BoundDatabase, databasesOf } from './matching.ts';

export type { WantedSignal };

/** A wanted signal that is in no network description. */
export interface UnknownSignal {
  /** Index in the list of wanted signals. */
  readonly index: number;
  readonly message: string;
  /** Similar existing names, the most likely first. May be empty. */
  readonly nearest: readonly string[];
}

/** Returns the wanted signals that cannot be decoded, in their order, with the reasons. */
export function unknownSignals(wanted: readonly WantedSignal[], bound: readonly BoundDatabase[]): UnknownSignal[] {
  const byBus = new Map<string | undefined, Messages>();
  return wanted.flatMap((one, index) => {
    let messages = byBus.get(one.bus);
    if (messages === undefined) {
      messages = messagesOf(one.bus, bound);
      byBus.set(one.bus, messages);
    }
    return unknownSignal(one, index, bound, messages) ?? [];
  });
}

/** Messages of a bus, by symbol and by long name. */
interface Messages {
  readonly all: readonly DbcMessage[];
  readonly named: ReadonlyMap<string, readonly DbcMessage[]>;
}

function messagesOf(bus: string | undefined, bound: readonly BoundDatabase[]): Messages {
  const databases = bus === undefined ? bound.map((entry) => entry.database) : databasesOf(bound, bus);
  const all = databases.flatMap((database) => database.messages);
  const named = new Map<string, DbcMessage[]>();
  for (const message of all) {
    for (const name of new Set([message.name, message.symbol])) {
      const others = named.get(name);
      if (others === undefined) named.set(name, [message]);
      else others.push(message);
    }
  }
  return { all, named };
}

function unknownSignal(
  wanted: WantedSignal,
  index: number,
  bound: readonly BoundDatabase[],
  { all, named }: Messages,
): UnknownSignal | undefined {
  const { bus } = wanted;
  if (bus === undefined ? bound.length === 0 : databasesOf(bound, bus).length === 0) {
    const buses = bound.flatMap((entry) => entry.bus ?? []);
    if (bus === undefined) return { index, message: 'there is no network description', nearest: [] };
    return { index, message: `bus ${bus} has no network description`, nearest: nearest(bus, buses) };
  }
  const messages = named.get(wanted.message) ?? [];
  if (messages.length === 0) {
    const names = all.map((message) => message.name);
    const message = `no network description has a message ${wanted.message}`;
    return { index, message, nearest: nearest(wanted.message, names) };
  }
  const found = messages.flatMap((message) => signalNamed(message, wanted.signal) ?? []);
  if (found.length === 0) {
    const names = messages.flatMap((message) => message.signals.map((signal) => signal.name));
    const message = `message ${wanted.message} has no signal ${wanted.signal}`;
    return { index, message, nearest: nearest(wanted.signal, names) };
  }
  if (found.some(readable)) return undefined;
  const message = `signal ${wanted.signal} of message ${wanted.message} lies beyond the 64 bytes of a frame`;
  return { index, message, nearest: [] };
}
