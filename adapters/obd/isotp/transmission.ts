import { VigieError } from '../../../protocol/errors.ts';
import { type Control, consecutiveFrame, firstFrame, firstFrameBytes, singleFrame } from './control.ts';
import { deferred } from './deferred.ts';
import { type IsotpWire, room, sendInTime } from './settings.ts';

type Flow = Extract<Control, { kind: 'flow' }>;

/** Sends one message to one receiver, as fast as its flow control allows (ISO 15765-2:2016 §9.6.5, §9.8). */
export class Transmission {
  /** Resolves when the bus has sent the last frame; rejects with `input.unreadable` if that fails. */
  readonly done: Promise<void>;
  readonly #wire: IsotpWire;
  readonly #payload: Uint8Array;
  #state: 'sending' | 'awaiting' | 'ended' = 'sending';
  #sent = 0;
  #index = 1;
  #waits = 0;
  #cancel: (() => void) | undefined;
  readonly #outcome = deferred<void>();

  constructor(wire: IsotpWire, payload: Uint8Array) {
    this.#wire = wire;
    this.#payload = payload;
    this.done = this.#outcome.promise;
    this.#run(this.#begin());
  }

  /** Processes flow control from the receiver; ignores it when it is not expected (§9.8.3). */
  flow({ status, blockSize, separation }: Flow): void {
    if (this.#state !== 'awaiting') return;
    this.#cancelTimer();
    switch (status) {
      case 'continue':
        this.#waits = 0;
        this.#state = 'sending';
        this.#run(this.#block(blockSize === 0 ? Number.POSITIVE_INFINITY : blockSize, separation));
        return;
      case 'wait':
        this.#waits++;
        if (this.#waits <= this.#wire.settings.waits) this.#await();
        else this.#fail(`the receiver said WAIT ${this.#waits} times`);
        return;
      case 'overflow':
        this.#fail(`the receiver has no room for ${this.#payload.length} bytes`);
        return;
      case 'reserved':
        this.#fail('the flow control has a status that the standard does not know');
    }
  }

  /** Stops sending; `done` rejects with `error`. */
  abort(error: VigieError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelTimer();
    this.#outcome.reject(error);
  }

  async #begin(): Promise<void> {
    const wire = this.#wire;
    const single = singleFrame(this.#payload, room(wire), wire.address);
    if (single !== undefined) {
      await sendInTime(wire, single);
      this.#end();
      return;
    }
    this.#sent = firstFrameBytes(this.#payload.length, room(wire));
    // The answer to a frame may arrive before the sender reports the frame as sent.
    this.#state = 'awaiting';
    await sendInTime(wire, firstFrame(this.#payload, room(wire)));
    this.#await();
  }

  async #block(size: number, separation: number): Promise<void> {
    const wire = this.#wire;
    for (let left = size; this.#state === 'sending'; ) {
      const frame = consecutiveFrame(this.#payload, this.#sent, this.#index, room(wire));
      this.#sent += frame.length - 1;
      this.#index = (this.#index + 1) & 15;
      left--;
      const last = this.#sent >= this.#payload.length;
      if (!last && left === 0) this.#state = 'awaiting';
      await sendInTime(wire, frame);
      if (last) this.#end();
      else if (left === 0) this.#await();
      else if (separation > 0) await this.#pause(separation);
      if (left === 0) return;
    }
  }

  #await(): void {
    const { clock, settings } = this.#wire;
    if (this.#state !== 'awaiting' || this.#cancel !== undefined) return;
    this.#cancel = clock.after(settings.flowControl, () => {
      this.#cancel = undefined;
      this.#fail(`no flow control came within ${settings.flowControl} ms`);
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cancel = this.#wire.clock.after(ms, () => {
        this.#cancel = undefined;
        resolve();
      });
    });
  }

  #run(steps: Promise<void>): void {
    steps.catch((error: unknown) => {
      if (this.#state === 'ended') return;
      this.#state = 'ended';
      this.#cancelTimer();
      this.#outcome.reject(error);
    });
  }

  #fail(what: string): void {
    this.abort(
      new VigieError('input.unreadable', `the request was not delivered: ${what} (${this.#sent} bytes were sent)`),
    );
  }

  #end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#outcome.resolve();
  }

  #cancelTimer(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
