import type { ComplaintReason } from '../adapter-line.ts';
import { answersRequest } from '../isotp/matching.ts';
import { routeOf } from '../isotp/route.ts';
import { NEGATIVE, PENDING } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import { readResponse } from '../response.ts';
import { answerId } from './addressing.ts';

/** Result of one request, parsed from the printed text. */
export interface AdapterOutput {
  /** Whole answers to this request, without "response pending". */
  readonly answers: readonly DiagnosticAnswer[];
  /** CAN identifiers of control units that sent "response pending" and have not answered yet. */
  readonly pending: readonly number[];
  /** Control unit that sent only the first frame of a multi-frame answer: it waits for flow control. */
  readonly waiting: number | undefined;
  /** Number of whole messages that do not answer this request. */
  readonly strays: number;
  /** Descriptions of frames that do not form a message. */
  readonly faults: readonly string[];
  readonly complaints: readonly string[];
  readonly reasons: ReadonlySet<ComplaintReason>;
}

/** Parses the text printed for a request so far, without an echo. Never throws. */
export function readOutput(text: string, { address, payload }: DiagnosticRequest): AdapterOutput {
  const route = routeOf(address);
  const response = readResponse(text, () => address.target !== undefined, false);
  const answers: DiagnosticAnswer[] = [];
  const pending = new Set<number>();
  let strays = 0;
  for (const { header, address: source, data } of response.messages) {
    const id = senderOf(header, address);
    if (!isOlder(header) && route.responder(id, source ?? address.source ?? address.target) === undefined) continue;
    if (!answersRequest(payload, data)) strays++;
    else if (data[0] === NEGATIVE && data[2] === PENDING) pending.add(id);
    else {
      pending.delete(id);
      answers.push({ id, payload: data });
    }
  }
  const faults = response.faults.filter(({ header, replaced }) => {
    return !replaced && route.responder(senderOf(header, address), address.source ?? address.target) !== undefined;
  });
  const waiting = faults.find(({ unfinished }) => unfinished === 0);
  return {
    answers,
    pending: [...pending],
    waiting: waiting === undefined ? undefined : senderOf(waiting.header, address),
    strays,
    faults: faults.map(({ message }) => message),
    complaints: response.complaints,
    reasons: response.reasons,
  };
}

/** Returns the sender. Without headers, the adapter's filter chose it: the addressed unit or the first possible one. */
function senderOf(header: string, address: DiagnosticAddress): number {
  if (header !== '') return Number.parseInt(header, 16);
  return answerId(address) ?? (address.extended ? 0x18daf110 : 0x7e8);
}

/** Returns true for headers of three bytes: those of the older buses, where CAN identifiers have no meaning. */
function isOlder(header: string): boolean {
  return header.length === 6;
}
