import type { DiagnosticAddress } from '../requester.ts';

/** Source of one answer and destination of its flow control. */
export interface Responder {
  /** CAN identifier for flow control, without flag bits. */
  readonly flowControl: number;
  /** First byte of the frames sent to it. */
  readonly target: number | undefined;
}

/** Identifiers of a request and of its answers. */
export interface IsotpRoute {
  readonly request: number;
  readonly extended: boolean;
  readonly target: number | undefined;
  /** True if any number of control units may answer. */
  readonly functional: boolean;
  /** Returns the responder with this identifier and first byte, or undefined if the frame is not an answer to us. */
  responder(id: number, first: number | undefined): Responder | undefined;
}

/** Functional requests of 11 and 29 bits (ISO 15765-4 §6.3.2, Tables 3 and 5). */
export const FUNCTIONAL = 0x7df;
export const FUNCTIONAL_29 = 0x18db33f1;

/** Address of the external test equipment (ISO 15765-4 §6.3.2.3). */
const TESTER = 0xf1;

/**
 * Returns the route of an address. If the address does not define the answer, uses the usual pairs: 7E8..7EF answer
 * 7E0..7E7, any other 11-bit identifier is answered by itself plus 8, and 18DAF1xx answers 18DAxxF1.
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

/** Returns the identifier for flow control: that of the unit itself, even if the request was sent to all. */
function flowOf({ request, extended }: DiagnosticAddress, answer: number): number {
  return isUsualAnswer(answer, extended) ? usualRequest(answer, extended) : request;
}

/** Returns true for an identifier with which control units answer by default (ISO 15765-4). */
export function isUsualAnswer(id: number, extended: boolean): boolean {
  return extended ? (id & 0xffffff00) >>> 0 === 0x18daf100 : id >= 0x7e8 && id <= 0x7ef;
}

/** Returns the identifier with which the control unit at a physical address answers. */
export function usualAnswer(request: number, extended: boolean): number {
  if (!extended) return request + 8;
  return ((request & 0xffff0000) | ((request & 0xff) << 8) | ((request >> 8) & 0xff)) >>> 0;
}

/** Returns the physical address of the control unit that answers with this identifier. */
export function usualRequest(answer: number, extended: boolean): number {
  if (!extended) return answer - 8;
  return ((answer & 0xffff0000) | ((answer & 0xff) << 8) | ((answer >> 8) & 0xff)) >>> 0;
}
