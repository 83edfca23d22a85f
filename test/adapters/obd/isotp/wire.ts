import { padded, readControl } from '../../../../adapters/obd/isotp/control.ts';
import { Reception } from '../../../../adapters/obd/isotp/reception.ts';
import { defaultSettings, type IsoTpSettings } from '../../../../adapters/obd/isotp/settings.ts';
import { Transmission } from '../../../../adapters/obd/isotp/transmission.ts';
import { EXTENDED, FD, type FrameBatch, type FrameSender, type OutgoingFrame } from '../../../../agent/ports.ts';
import type { VigieError } from '../../../../protocol/errors.ts';
import type { VirtualClock } from '../../../rig/clock.ts';

export interface Frame {
  /** With EXTENDED bit. */
  readonly id: number;
  readonly flags: number;
  readonly data: Uint8Array;
}

/** One frame as a source hands it over. */
export function batchOf({ id, flags, data }: Frame, bus = 0): FrameBatch {
  const bytes = new Uint8Array(64);
  bytes.set(data);
  return {
    count: 1,
    at: Float64Array.of(0),
    id: Uint32Array.of(id),
    bus: Uint8Array.of(bus),
    flags: Uint8Array.of(flags),
    length: Uint8Array.of(data.length),
    offset: Uint32Array.of(0),
    data: bytes,
  };
}

/** What the wire does to one frame: milliseconds after which it arrives, once for each entry; none: it is lost. */
export type Fate = (frame: Frame, index: number) => readonly number[];

/** A bus: what one node sends, every other node is given after a millisecond, or as `fate` has it. */
export class Bus implements FrameSender {
  readonly sent: Frame[] = [];
  readonly #clock: VirtualClock;
  readonly #nodes: ((frame: Frame) => void)[] = [];
  fate: Fate = () => [1];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Adds a node; the result sends for it. */
  join(receive: (frame: Frame) => void): (frame: Frame) => void {
    this.#nodes.push(receive);
    return (frame) => this.#send(frame, receive);
  }

  /** For the node under test, which must be the first to join. */
  async send({ id, flags, data }: OutgoingFrame): Promise<void> {
    this.#send({ id, flags, data: data.slice() }, this.#nodes[0]);
  }

  #send(frame: Frame, from: ((frame: Frame) => void) | undefined): void {
    const index = this.sent.push(frame) - 1;
    for (const delay of this.fate(frame, index)) {
      this.#clock.after(delay, () => {
        for (const node of this.#nodes) if (node !== from) node(frame);
      });
    }
  }
}

export interface UnitOptions {
  readonly clock: VirtualClock;
  readonly bus: Bus;
  /** Identifiers with EXTENDED bit. */
  readonly listens: readonly number[];
  readonly answers: number;
  /** First byte of frames to it and from it. */
  readonly address?: number;
  readonly source?: number;
  readonly settings?: Partial<IsoTpSettings>;
  /** Answers to a request, sent one after the other. */
  readonly serve: (request: Uint8Array) => readonly Uint8Array[];
}

/** A control unit on the bus, made of the same parts as the requester: two instances back to back. */
export class ControlUnit {
  readonly requests: Uint8Array[] = [];
  readonly faults: VigieError[] = [];
  #transmission: Transmission | undefined;
  #sending: Promise<void> = Promise.resolve();
  readonly #send: (message: Uint8Array) => Transmission;

  /** Resolves when its answers so far are sent, or cannot be. */
  idle(): Promise<void> {
    return this.#sending;
  }

  /** Sends a message behind those that are not sent yet. */
  say(message: Uint8Array): void {
    this.#sending = this.#sending
      .then(() => {
        this.#transmission = this.#send(message);
        return this.#transmission.done;
      })
      .catch((error: VigieError) => {
        this.faults.push(error);
      });
  }

  constructor(options: UnitOptions) {
    const { clock, bus, listens, answers, address, source } = options;
    const settings = { ...defaultSettings, ...options.settings };
    const taken = address === undefined ? 0 : 1;
    const put = bus.join((frame) => {
      if (!listens.includes(frame.id) || (address !== undefined && frame.data[0] !== address)) return;
      const data = frame.data.subarray(taken);
      const control = readControl(data, taken);
      if (control?.kind === 'flow') this.#transmission?.flow(control);
      else if (control !== undefined) reception.frame(control, data);
    });
    const wire = {
      clock,
      settings,
      address: taken,
      send: async (data: Uint8Array) => {
        const flags = settings.frameLength > 8 ? FD : 0;
        put({ id: answers, flags, data: padded(data, source ?? address, settings.padding) });
      },
    } as const;
    this.#send = (message) => new Transmission(wire, message);
    const reception = new Reception(wire, {
      received: (request) => {
        this.requests.push(request);
        for (const answer of options.serve(request)) this.say(answer);
      },
      failed: (error) => this.faults.push(error),
    });
  }
}

/** Lets the virtual time pass until the promise is settled; fails when that takes longer than `most` ms. */
export async function settled<T>(
  clock: VirtualClock,
  promise: Promise<T>,
  most = 300_000,
): Promise<PromiseSettledResult<T>> {
  let outcome: PromiseSettledResult<T> | undefined;
  promise.then(
    (value) => {
      outcome = { status: 'fulfilled', value };
    },
    (reason: unknown) => {
      outcome = { status: 'rejected', reason };
    },
  );
  for (let passed = 0; passed < most; passed += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (outcome !== undefined) return outcome;
    clock.advance(1);
  }
  throw new Error(`nothing came of it in ${most} ms`);
}

export const extended = (id: number): number => (id | EXTENDED) >>> 0;
