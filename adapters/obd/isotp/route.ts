import type { DiagnosticAddress } from '../requester.ts';

/** Where one answer comes from, and where its flow control goes to. */
export interface Responder {
  /** CAN identifier without flag bits. */
  readonly flowControl: number;
  /** First byte of the frames we send it. */
  readonly target: number | undefined;
}

/** A request's way out, and the ways its answers come back. */
export interface IsotpRoute {
  readonly request: number;
  readonly extended: boolean;
  readonly target: number | undefined;
  /** Any number of control units may answer. */
  readonly functional: boolean;
  /** Who answers with this identifier and first byte; undefined when the frame is none of ours. */
  responder(id: number, first: number | undefined): Responder | undefined;
}

/** Functional requests of 11 and 29 bits (ISO 15765-4 §6.3.2, Tables 3 and 5). */
export const FUNCTIONAL = 0x7df;
export const FUNCTIONAL_29 = 0x18db33f1;

/** Address of the external test equipment (ISO 15765-4 §6.3.2.3). */
const TESTER = 0xf1;

/**
 * The usual pairs where the address leaves them open: 7E0..7E7 are answered by 7E8..7EF and every other 11-bit
 * identifier by the one eight above it; 18DAxxF1 by 18DAF1xx.
 */
export function routeOf(address: DiagnosticAddress): IsotpRoute {
  const { request, extended, response, target } = address;
  const functional =
    response === undefined && (extended ? (request & 0xffff00ff) >>> 0 === 0x18db00f1 : request === FUNCTIONAL);
  const sources = target === undefined ? undefined : address.source === undefined ? [target, TESTER] : [address.source];
  return {
    request,
    extended,
    target,
    functional,
    responder(id, first) {
      if (sources !== undefined && (first === undefined || !sources.includes(first))) return undefined;
      if (functional ? !isUsualAnswer(id, extended) : id !== (response ?? usualAnswer(request, extended)))
        return undefined;
      return {
        flowControl: address.flowControl ?? (functional ? usualRequest(id, extended) : flowOf(address, id)),
        target,
      };
    },
  };
}

/** Flow control is addressed to the unit itself, also where the request was to all. */
function flowOf({ request, extended }: DiagnosticAddress, answer: number): number {
  return isUsualAnswer(answer, extended) ? usualRequest(answer, extended) : request;
}

function isUsualAnswer(id: number, extended: boolean): boolean {
  return extended ? (id & 0xffffff00) >>> 0 === 0x18daf100 : id >= 0x7e8 && id <= 0x7ef;
}

/** The identifier that the control unit at a physical address answers with. */
export function usualAnswer(request: number, extended: boolean): number {
  if (!extended) return request + 8;
  return ((request & 0xffff0000) | ((request & 0xff) << 8) | ((request >> 8) & 0xff)) >>> 0;
}

/** The physical address of the control unit that answers with this identifier. */
export function usualRequest(answer: number, extended: boolean): number {
  if (!extended) return answer - 8;
  return ((answer & 0xffff0000) | ((answer & 0xff) << 8) | ((answer >> 8) & 0xff)) >>> 0;
}
