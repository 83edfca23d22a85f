/** Refusals of a control unit, and their meaning for a command. */

import { type ErrorCode, VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { hexOf } from '../hex.ts';
import { refusal } from '../negative-response.ts';

/**
 * Meaning of a negative response code (ISO 14229-1:2020 Table A.1) for a command. Other codes, such as "conditions not
 * correct", do not name the obstacle.
 */
const codes: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  // The control unit does not support the request, or not in this session.
  ...[0x11, 0x12, 0x13, 0x31, 0x7e, 0x7f].map((response) => [response, 'command.unsupported'] as const),
  // Engine speed, running engine, vehicle speed, pedal, gear, lever.
  ...[0x81, 0x83, 0x88, 0x8a, 0x8c, 0x90].map((response) => [response, 'command.vehicleInUse'] as const),
  [0x93, 'command.batteryLow'],
]);

/** The control unit refused and did not execute the request. */
export class Refused extends VigieError {
  /** Negative response code. */
  readonly response: number;

  constructor(request: Uint8Array, response: number) {
    super(codes.get(response) ?? 'command.actuation', refusal(request[0] ?? 0, response));
    this.name = 'Refused';
    this.response = response;
  }
}

/** The request was not sent, or not repeated after a refusal, because it was no longer allowed (see `cause`). */
export class NotBegun extends VigieError {
  constructor(cause: VigieError) {
    super(cause.code, cause.message, { cause });
    this.name = 'NotBegun';
  }
}

/** No answer, or an unintelligible one: it is unknown whether the request was executed. */
export class NoAnswer extends VigieError {
  constructor(request: Uint8Array, answer?: Uint8Array) {
    const came =
      answer === undefined ? 'no whole answer' : `${hexOf(answer)}, which is not an answer to ${hexOf(request)}`;
    super('command.unconfirmed', `service ${hexByte(request[0] ?? 0)}: ${came}`);
    this.name = 'NoAnswer';
  }
}

/** The results of a routine differ from the expected ones: the action was not executed. */
export class OtherResults extends VigieError {
  constructor(message: string) {
    super('command.actuation', message);
    this.name = 'OtherResults';
  }
}
