import { hexOf } from '../hex.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import { answerId } from './addressing.ts';

/** Maximum number of stored requests and addresses; a car has some hundred. */
const MOST = 1024;

/** Pause in ms between the frames of an answer after the adapter lost some; doubled each time up to the longest. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 40;

/** Maximum frame count after a request: it is one hexadecimal digit. */
const MOST_FRAMES = 15;

/**
 * Services whose answers always have the same length (SAE J1979 §6; ISO 14229-1 §11.2). Lists of trouble codes can
 * grow.
 */
const STEADY: ReadonlySet<number> = new Set([0x01, 0x09, 0x1a, 0x21, 0x22]);

/** Properties of the car learned from past exchanges, valid for later exchanges and also with another adapter. */
export class AdapterQuirks {
  /** Number of frames of the answer to each request. */
  readonly #frames = new Map<string, number>();
  /** Pause in ms between frames for addresses that must send their answers more slowly. */
  readonly #pauses = new Map<string, number>();
  /** Addresses for which the adapter's own flow control does not reach the control unit. */
  readonly #waiting = new Set<string>();

  /**
   * Returns the number of frames of the answer, so that the adapter need not wait for more; undefined if the number is
   * unknown or other units may answer too.
   */
  frames(request: DiagnosticRequest): number | undefined {
    return answerId(request.address) === undefined ? undefined : this.#frames.get(requestKey(request));
  }

  /** Call after a whole answer that the adapter's automatic formatting returned in frames. */
  answered(request: DiagnosticRequest, answers: readonly DiagnosticAnswer[]): void {
    const [answer] = answers;
    if (answer === undefined || answers.length > 1 || !STEADY.has(request.payload[0] ?? 0)) return;
    const room = request.address.target === undefined ? 7 : 6;
    const { length } = answer.payload;
    const frames = length <= room ? 1 : 1 + Math.ceil((length - room + 1) / room);
    if (frames > MOST_FRAMES) return;
    if (this.#frames.size >= MOST) this.#frames.clear();
    this.#frames.set(requestKey(request), frames);
  }

  forget(request: DiagnosticRequest): void {
    this.#frames.delete(requestKey(request));
  }

  /** Returns true if software must answer first frames from this address. */
  waits(address: DiagnosticAddress): boolean {
    return this.#waiting.has(addressKey(address));
  }

  /** Call after software answered an unanswered first frame from this address; `came` is true if the rest arrived. */
  answeredInSoftware(address: DiagnosticAddress, came: boolean): void {
    if (!came) this.#waiting.delete(addressKey(address));
    else if (this.#waiting.size < MOST) this.#waiting.add(addressKey(address));
  }

  /** Returns the pause in ms to request between the frames of an answer. */
  separation(address: DiagnosticAddress): number {
    return this.#pauses.get(addressKey(address)) ?? 0;
  }

  /** Call after the adapter lost frames of this address. Returns false if they cannot be sent more slowly. */
  slower(address: DiagnosticAddress): boolean {
    const key = addressKey(address);
    const now = this.#pauses.get(key) ?? 0;
    if (now >= LONGEST_PAUSE || answerId(address) === undefined) return false;
    this.#pauses.set(key, Math.min(LONGEST_PAUSE, Math.max(FIRST_PAUSE, now * 2)));
    return true;
  }
}

function requestKey({ address, payload }: DiagnosticRequest): string {
  return `${addressKey(address)}:${hexOf(payload)}`;
}

function addressKey({ request, extended, response, target }: DiagnosticAddress): string {
  return `${extended ? 'x' : ''}${request.toString(16)}.${response?.toString(16) ?? ''}.${target?.toString(16) ?? ''}`;
}
