/** Port for diagnostic requests, over an adapter on a serial line or ISO-TP on a bus. */

import type { DiagnosticAddress } from '../../protocol/profile.ts';

export type { DiagnosticAddress };

export interface DiagnosticRequest {
  readonly address: DiagnosticAddress;
  /** Service and parameters, e.g. 01 0D. */
  readonly payload: Uint8Array;
  /** Milliseconds to wait for the (first) answer; default 200 of the requester. */
  readonly timeout?: number;
  /** Milliseconds to wait for the answer that "response pending" announced (P2*), where the requester can set it. */
  readonly pending?: number;
  /** Milliseconds for which the unit may repeat "response pending", where the requester can set it. */
  readonly longestPending?: number;
  /** Goes before all that waits and is not urgent: somebody else's session would end meanwhile. */
  readonly urgent?: boolean;
  /** Called before the request is sent, when its turn comes. If it throws, the request rejects with that error. */
  readonly allowed?: () => void;
}

/** A whole answer of one control unit, multi-frame messages put together, "response pending" waited for. */
export interface DiagnosticAnswer {
  /** CAN identifier it came with, without flag bits. */
  readonly id: number;
  /** First byte is service + 0x40, or 0x7F for a refusal. */
  readonly payload: Uint8Array;
}

/** Asks one thing at a time; callers need not wait for each other, requests are queued in order. */
export interface DiagnosticRequester {
  /** True if the car is known to sleep: no request is sent then. */
  readonly asleep?: boolean;
  /**
   * The answers that came in time; empty when no unit answered.
   * @throws VigieError `input.unreadable` when there is no way to ask now (line gone, bus down, car asleep);
   * `input.malformed` when what came was not a whole answer
   */
  request(request: DiagnosticRequest): Promise<readonly DiagnosticAnswer[]>;
}
