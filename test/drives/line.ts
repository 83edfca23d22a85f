/** Serial lines on a virtual clock, with a transmission delay. */
import type { LineEvents, OpenLine } from '../../agent/ports.ts';
import type { Emulator } from '../adapters/obd/elm327/emulator.ts';
import type { VirtualClock } from '../rig/clock.ts';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** A line to an emulated adapter. A command arrives after `latency` ms, and so does its answer. */
export function adapterLine(emulator: Emulator, clock: VirtualClock, latency: number): OpenLine {
  return async (events) => {
    emulator.print = (text) => void clock.after(latency, () => events.data(bytesOf(text)));
    return {
      write: async (bytes) => {
        clock.after(latency, () => emulator.receive(String.fromCharCode(...bytes)));
      },
      close: async () => {
        emulator.print = () => undefined;
      },
    };
  };
}

/** A GNSS receiver that only sends. */
export class ReceiverLine {
  #events: LineEvents | undefined;

  readonly open: OpenLine = async (events) => {
    this.#events = events;
    return {
      write: async () => undefined,
      close: async () => {
        this.#events = undefined;
      },
    };
  };

  say(text: string): void {
    this.#events?.data(bytesOf(text));
  }
}
