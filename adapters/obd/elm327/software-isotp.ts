import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { adapterLines, complaintReasons } from '../adapter-line.ts';
import { hexOf } from '../hex.ts';
import {
  CLASSIC,
  type Control,
  consecutiveFrame,
  DEFAULT_PADDING,
  firstFrame,
  firstFrameBytes,
  flowFrame,
  padded,
  readControl,
  singleFrame,
} from '../isotp/control.ts';
import { routeOf } from '../isotp/route.ts';
import type { DiagnosticAddress, DiagnosticRequest } from '../requester.ts';
import type { Adapter } from './adapter.ts';
import { answerId, hexId, setFormatting, setHeader } from './addressing.ts';
import type { AnswerPatience } from './conversation.ts';

/** Maximum number of consecutive WAIT flow controls (ISO 15765-2 §9.7, N_WFTmax). */
const MOST_WAITS = 10;

/** Time in ms until the next flow control after a WAIT (N_Bs). */
const FLOW_CONTROL_TIME = 1000;

/** Digit after a request: the number of frames after which the prompt returns. Some adapters do not support it. */
export const COUNT = 'count of answers';

type Flow = Extract<Control, { kind: 'flow' }>;

/**
 * ISO 15765-2 in software, for cases that the adapter's formatting does not support: long requests, extended addresses,
 * and flow control to identifiers unknown to the adapter. The adapter sends and prints single frames.
 */
export class SoftwareIsoTp {
  readonly #adapter: Adapter;
  readonly #clock: Clock;
  readonly #patience: AnswerPatience;

  constructor(adapter: Adapter, clock: Clock, patience: AnswerPatience) {
    this.#adapter = adapter;
    this.#clock = clock;
    this.#patience = patience;
  }

  /**
   * Sends a request; formatting must be off and the address set. Returns the text printed for the last frame, or for
   * the frame after which sending could not continue.
   * @param one the first frame of the answer is sufficient; the rest must be requested
   * @throws VigieError `input.malformed` if the receiver does not accept a request of this length
   */
  async send({ address, payload }: DiagnosticRequest, one: boolean): Promise<string> {
    const room = CLASSIC - addressBytes(address);
    const single = singleFrame(payload, room, addressBytes(address));
    if (single !== undefined) return this.#frame(address, single, one);
    if (answerId(address) === undefined) {
      throw new VigieError(
        'input.malformed',
        `a request of ${payload.length} bytes to all control units: only one frame may be sent to all`,
      );
    }
    let output = await this.#frame(address, firstFrame(payload, room), true);
    let sent = firstFrameBytes(payload.length, room);
    for (let index = 1, waits = 0; ; ) {
      const flow = this.#flow(address, output);
      if (flow === undefined) {
        if (index === 1 && waits === 0) return output;
        // A refusal may arrive in place of flow control. Silence is not a refusal.
        if (adapterLines(output, false).some(({ kind }) => kind === 'frame')) return output;
        throw undelivered(`no flow control came after ${sent} of ${payload.length} bytes`);
      }
      if (flow.status === 'wait' && waits < MOST_WAITS) {
        waits++;
        output = await this.#awaitFlow(address);
        continue;
      }
      if (flow.status !== 'continue') {
        const why = flow.status === 'wait' ? `says WAIT ${waits} times` : `has no room for ${payload.length} bytes`;
        throw undelivered(`the control unit ${why}`);
      }
      for (let left = flow.blockSize === 0 ? Number.POSITIVE_INFINITY : flow.blockSize; left > 0; left--) {
        const frame = consecutiveFrame(payload, sent, index, room);
        sent += frame.length - 1;
        index = (index + 1) & 15;
        const last = sent >= payload.length;
        // If no answer is expected, do not wait.
        if (last || left === 1) await this.#adapter.revert('responses', 'ATR', '1');
        else await this.#adapter.set('responses', 'ATR', '0');
        output = await this.#frame(address, frame, last ? one : left === 1);
        if (last) return output;
        if (flow.separation > 0 && left > 1) await this.#pause(flow.separation);
      }
      waits = 0;
    }
  }

  /** Sends flow control to the unit that answers with `id`. Returns the following frames. */
  async goOn(address: DiagnosticAddress, id: number, separation: number): Promise<string> {
    const responder = routeOf(address).responder(id, address.source ?? address.target);
    await setHeader(this.#adapter, responder?.flowControl ?? address.request, address.extended);
    await this.#adapter.revert('extended address', 'ATCEA', '');
    await setFormatting(this.#adapter, false);
    return this.#frame(address, flowFrame('continue', 0, separation), false);
  }

  async #frame(address: DiagnosticAddress, data: Uint8Array, one: boolean): Promise<string> {
    const frame = hexOf(padded(data, address.target, DEFAULT_PADDING));
    if (one && this.#adapter.knows(COUNT)) {
      const output = await this.#adapter.ask(`${frame}1`, this.#patience);
      if (!complaintReasons(output).has('unknown')) return output;
      this.#adapter.lacks(COUNT);
    }
    return this.#adapter.ask(frame, this.#patience);
  }

  async #awaitFlow(address: DiagnosticAddress): Promise<string> {
    const patience = { quiet: this.#patience.quiet, total: FLOW_CONTROL_TIME };
    return this.#adapter.watch('ATMA', patience, (text) => {
      const flow = this.#flow(address, text);
      return flow !== undefined && flow.status !== 'wait';
    });
  }

  /** Returns the last flow control: a WAIT may have been followed by another status. */
  #flow(address: DiagnosticAddress, output: string): Flow | undefined {
    let last: Flow | undefined;
    const sender = hexId(answerId(address) ?? 0, address.extended);
    for (const line of adapterLines(output, false)) {
      if (line.kind !== 'frame' || line.header !== sender) continue;
      const control = readControl(line.data.subarray(addressBytes(address)), addressBytes(address));
      if (control?.kind === 'flow') last = control;
    }
    return last;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}

function undelivered(why: string): VigieError {
  return new VigieError('input.malformed', `the request was not delivered: ${why}`);
}

function addressBytes({ target }: DiagnosticAddress): 0 | 1 {
  return target === undefined ? 0 : 1;
}
