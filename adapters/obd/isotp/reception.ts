import { VigieError } from '../../../protocol/errors.ts';
import { Assembly } from './assembly.ts';
import { type Control, flowFrame } from './control.ts';
import { type IsotpWire, sendInTime } from './settings.ts';

interface ReceptionEvents {
  /** Called with a whole message. The receiver may keep the bytes. */
  received(payload: Uint8Array): void;
  /**
   * Called if a message began but remained incomplete, with `input.malformed`, or with `input.unreadable` if our flow
   * control could not be sent. `replaced`: the sender itself started again, so a whole message may still follow.
   */
  failed(error: VigieError, replaced: boolean): void;
}

/** Receives the messages of one sender, and sends it flow control (ISO 15765-2:2016 §9.6, §9.8). */
export class Reception {
  readonly #wire: IsotpWire;
  readonly #events: ReceptionEvents;
  readonly #assembly: Assembly;
  /** Number of frames until the sender waits for our flow control. */
  #left = 0;
  #cancel: (() => void) | undefined;

  constructor(wire: IsotpWire, events: ReceptionEvents) {
    this.#wire = wire;
    this.#events = events;
    this.#assembly = new Assembly(wire.settings.longest);
  }

  /** True if a message has begun and is incomplete. */
  get active(): boolean {
    return this.#assembly.current !== undefined;
  }

  /** Processes a single, first or consecutive frame with its control information. */
  frame(control: Exclude<Control, { kind: 'flow' }>, data: Uint8Array): void {
    const { step, replaced } = this.#assembly.frame(control, data);
    if (replaced !== undefined) this.#failed(replaced, true);
    switch (step.kind) {
      case 'whole':
        this.#disarm();
        this.#events.received(step.payload);
        break;
      case 'begun':
        this.#left = this.#block();
        this.#flow('continue');
        this.#arm();
        break;
      case 'continued':
        this.#left--;
        if (this.#left === 0) {
          this.#left = this.#block();
          this.#flow('continue');
        }
        this.#arm();
        break;
      case 'failed':
        this.#failed(step.why, false);
        break;
      case 'too long':
        this.#flow('overflow');
        this.#failed(`an answer of ${step.bytes} bytes; at most ${this.#wire.settings.longest} are taken`, false);
        break;
      case 'stray':
    }
  }

  /** Discards an unfinished message. */
  close(): void {
    this.#assembly.abandon('closed');
    this.#disarm();
  }

  #block(): number {
    const { blockSize } = this.#wire.settings;
    return blockSize === 0 ? Number.POSITIVE_INFINITY : blockSize;
  }

  #flow(status: 'continue' | 'overflow'): void {
    const { blockSize, separation } = this.#wire.settings;
    const message = this.#assembly.current;
    sendInTime(this.#wire, flowFrame(status, blockSize, separation)).catch((error: unknown) => {
      if (message === undefined || this.#assembly.current !== message) return;
      this.close();
      this.#events.failed(
        error instanceof VigieError ? error : new VigieError('input.unreadable', String(error), { cause: error }),
        false,
      );
    });
  }

  #arm(): void {
    const { clock, settings } = this.#wire;
    this.#disarm();
    this.#cancel = clock.after(settings.consecutive, () => {
      this.#cancel = undefined;
      const why = this.#assembly.abandon(`the next frame did not come within ${settings.consecutive} ms`);
      if (why !== undefined) this.#failed(why, false);
    });
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #failed(why: string, replaced: boolean): void {
    this.#disarm();
    this.#events.failed(new VigieError('input.malformed', why), replaced);
  }
}
