/** Port for diagnostic requests, through an adapter on a serial line or ISO-TP on a bus. */

import type { DiagnosticAddress } from '../../protocol/profile.ts';

export type { DiagnosticAddress };

export interface DiagnosticRequest {
  readonly address: DiagnosticAddress;
  /** Service and parameters, e.g. 01 0D. */
  readonly payload: Uint8Array;
  /** Time in ms to wait for the (first) answer; default: the requester's, 200. */
  readonly timeout?: number;
  /** Time in ms to wait for the answer that "response pending" announced (P2*), if the requester can set it. */
  readonly pending?: number;
  /** Time in ms for which the unit may repeat "response pending", if the requester can set it. */
  readonly longestPending?: number;
  /** If true, precedes all waiting requests that are not urgent: a diagnostic session would end during the wait. */
  readonly urgent?: boolean;
  /** Called before the request is sent, when its turn arrives. If it throws, the request rejects with that error. */
  readonly allowed?: () => void;
}

/** A whole answer of one control unit, after reassembly of multi-frame messages and after any "response pending". */
export interface DiagnosticAnswer {
  /** CAN identifier of the answer, without flag bits. */
  readonly id: number;
  /** First byte is service + 0x40, or 0x7F for a refusal. */
  readonly payload: Uint8Array;
}

/** Sends one request at a time. Callers need not wait for each other: requests are queued in order. */
export interface DiagnosticRequester {
  /** True if the car is known to sleep: no request is sent then. */
  readonly asleep?: boolean;
  /**
   * Returns the answers received in time; empty if no unit answered.
   * @throws VigieError `input.unreadable` if requests are impossible now (line gone, bus down, car asleep);
   * `input.malformed` if the received data was not a whole answer
   */
  request(request: DiagnosticRequest): Promise<readonly DiagnosticAnswer[]>;
}
