import type { WantedSignal } from '../../../agent/ports.ts';
import { signalNamed } from './database.ts';
import { readable } from './layout.ts';
import { type BoundDatabase, databasesOf } from './matching.ts';
import { nearest } from './nearest.ts';

export type { WantedSignal };

/** A wanted signal that no network description has. */
export interface UnknownSignal {
  /** In the list of wanted signals. */
  readonly index: number;
  readonly message: string;
  /** Names that may have been meant, the likeliest first; may be empty. */
  readonly nearest: readonly string[];
}

/** What is wrong with a wanted signal, or undefined when it can be decoded. */
export function unknownSignal(
  wanted: WantedSignal,
  index: number,
  bound: readonly BoundDatabase[],
): UnknownSignal | undefined {
  const { bus } = wanted;
  const databases = bus === undefined ? bound.map((entry) => entry.database) : databasesOf(bound, bus);
  if (databases.length === 0) {
    const buses = bound.flatMap((entry) => entry.bus ?? []);
    if (bus === undefined) return { index, message: 'there is no network description', nearest: [] };
    return { index, message: `bus ${bus} has no network description`, nearest: nearest(bus, buses) };
  }
  const all = databases.flatMap((database) => database.messages);
  const messages = all.filter((message) => message.name === wanted.message || message.symbol === wanted.message);
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
