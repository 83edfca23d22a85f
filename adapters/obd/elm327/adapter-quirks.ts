import { hexOf } from '../hex.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import { answerId } from './addressing.ts';

/** Requests and addresses that are remembered; a car has some hundred. */
const MOST = 1024;

/** Pause between the frames of an answer after the adapter lost some, ms; doubled each time up to the longest. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 40;

/** The count behind a request is one hexadecimal digit. */
const MOST_FRAMES = 15;

/**
 * Services whose answers have the same length whenever they come (SAE J1979 §6; ISO 14229-1 §11.2). Lists of trouble
 * codes grow.
 */
const STEADY: ReadonlySet<number> = new Set([0x01, 0x09, 0x1a, 0x21, 0x22]);

/** Properties of the car learned from past exchanges. They hold for later exchanges, also with another adapter. */
export class AdapterQuirks {
  /** Frames that a request was answered with. */
  readonly #frames = new Map<string, number>();
  /** Addresses that must send their answers more slowly, with the pause between frames in ms. */
  readonly #pauses = new Map<string, number>();
  /** Addresses for which the adapter's own flow control does not reach the control unit. */
  readonly #waiting = new Set<string>();

  /**
   * Frames that the answer will have, so that the adapter need not wait for more; undefined when that is not known, or
   * somebody else may answer too.
   */
  frames(request: DiagnosticRequest): number | undefined {
    return answerId(request.address) === undefined ? undefined : this.#frames.get(requestKey(request));
  }

  /** After a whole answer in frames that the adapter's formatting gave. */
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

  /** Whether first frames from this address must be answered by software. */
  waits(address: DiagnosticAddress): boolean {
    return this.#waiting.has(addressKey(address));
  }

  /** A first frame from this address was left alone, and the rest came (or did not) when it was answered by software. */
  answeredInSoftware(address: DiagnosticAddress, came: boolean): void {
    if (!came) this.#waiting.delete(addressKey(address));
    else if (this.#waiting.size < MOST) this.#waiting.add(addressKey(address));
  }

  /** Pause to ask for between the frames of an answer, ms. */
  separation(address: DiagnosticAddress): number {
    return this.#pauses.get(addressKey(address)) ?? 0;
  }

  /** The adapter lost frames of this address; false when they cannot come any slower. */
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
