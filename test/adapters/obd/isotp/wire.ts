import { padded, readControl } from '../../../../adapters/obd/isotp/control.ts';
import { Reception } from '../../../../adapters/obd/isotp/reception.ts';
import { defaultSettings, type IsoTpSettings } from '../../../../adapters/obd/isotp/settings.ts';
import { Transmission } from '../../../../adapters/obd/isotp/transmission.ts';
import { EXTENDED, FD, type FrameBatch, type FrameSender, type OutgoingFrame } from '../../../../agent/ports.ts';
import type { VigieError } from '../../../../protocol/errors.ts';
import type { VirtualClock } from '../../../rig/clock.ts';

export interface Frame {
  /** Identifier with the EXTENDED bit. */
  readonly id: number;
  readonly flags: number;
  readonly data: Uint8Array;
}

/** A batch with one frame, in the format of a source. */
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

/** Fate of a frame: for each copy, the delay in ms until it arrives; an empty list loses the frame. */
export type Fate = (frame: Frame, index: number) => readonly number[];

/** A bus: every other node receives a sent frame after a millisecond, or as `fate` returns. */
export class Bus implements FrameSender {
  readonly sent: Frame[] = [];
  readonly #clock: VirtualClock;
  readonly #nodes: ((frame: Frame) => void)[] = [];
  fate: Fate = () => [1];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Adds a node, and returns a function that sends from it. */
  join(receive: (frame: Frame) => void): (frame: Frame) => void {
    this.#nodes.push(receive);
    return (frame) => this.#send(frame, receive);
  }

  /** Sends from the node under test, which must be the first to join. */
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
  /** Identifiers with the EXTENDED bit. */
  readonly listens: readonly number[];
  readonly answers: number;
  /** First byte of frames to the unit, and from it (`source`). */
  readonly address?: number;
  readonly source?: number;
  readonly settings?: Partial<IsoTpSettings>;
  /** Returns the answers to a request, which are sent in sequence. */
  readonly serve: (request: Uint8Array) => readonly Uint8Array[];
}

/** A control unit on the bus, built from the same parts as the requester. */
export class ControlUnit {
  readonly requests: Uint8Array[] = [];
  readonly faults: VigieError[] = [];
  #transmission: Transmission | undefined;
  #sending: Promise<void> = Promise.resolve();
  readonly #send: (message: Uint8Array) => Transmission;

  /** Resolves when its pending answers have been sent or have failed. */
  idle(): Promise<void> {
    return this.#sending;
  }

  /** Sends a message after the pending ones. */
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

/** Advances the virtual clock until the promise settles; fails after `most` ms. */
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
