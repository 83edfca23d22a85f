import { defined } from '../../../protocol/defined.ts';
import type { DiagnosticAddress } from '../requester.ts';
import type { ObdCommand } from '../signal-set.ts';

/** Default priority and tester of 29-bit identifiers (ISO 15765-4 §6.3.2.3). */
const PRIORITY = '18';
const TESTER = 'F1';

/** Resolution of an adapter's time-out in ms (ELM327 data sheet, AT ST). */
const TIMEOUT_STEP = 4;

/**
 * Returns the CAN address of a command of a signal set, from `hdr`, `rax`, `eax`, `tst`, `pri`. Undefined for headers
 * of J1850, ISO 9141-2 and ISO 14230, which do not exist on CAN.
 */
export function addressOf(command: ObdCommand): DiagnosticAddress | undefined {
  const { header, receiveAddress, extendedAddress, tester } = command;
  if (command.protocol !== undefined && command.protocol !== '') return undefined;
  const extending = {
    ...(extendedAddress === undefined ? {} : { target: Number.parseInt(extendedAddress, 16) }),
    ...(extendedAddress === undefined || tester === undefined ? {} : { source: Number.parseInt(tester, 16) }),
  };
  if (header.length <= 3) {
    const response = receiveAddress === undefined ? {} : { response: Number.parseInt(receiveAddress.slice(-3), 16) };
    return { request: Number.parseInt(header, 16), extended: false, ...response, ...extending };
  }
  const request = whole(header, command);
  if (request === undefined) return undefined;
  const answer = receiveAddress === undefined ? undefined : answerOf(receiveAddress, command);
  return {
    request,
    extended: true,
    ...defined({ response: answer }),
    ...extending,
  };
}

/** Returns the time-out in ms of the answer in the set; undefined for the requester's default. */
export function timeoutOf(command: ObdCommand): number | undefined {
  return command.timeout === undefined ? undefined : Number.parseInt(command.timeout, 16) * TIMEOUT_STEP;
}

/** Completes a header: `DA10` is 18 DA 10 F1, `DA10F1` lacks the priority, `18DA10F1` is complete. */
function whole(header: string, { priority, tester }: ObdCommand): number | undefined {
  if (header.length === 8) return Number.parseInt(header, 16);
  if (header.length === 4 && !/^D[AB]/.test(header)) return undefined;
  const first = (priority ?? PRIORITY).padStart(2, '0');
  if (header.length === 6) return Number.parseInt(first + header, 16);
  return header.length === 4
    ? Number.parseInt(`${first}${header}${(tester ?? TESTER).padStart(2, '0')}`, 16)
    : undefined;
}

/** Completes a receive address in the same forms as in `responseHeaders`: `F110` (node), `DAF110`, `18DAF110`. */
function answerOf(receiveAddress: string, { priority, tester }: ObdCommand): number {
  const first = (priority ?? PRIORITY).padStart(2, '0');
  const { length } = receiveAddress;
  if (length >= 7) return Number.parseInt(receiveAddress.padStart(8, '0'), 16);
  if (length >= 5) return Number.parseInt(`${first}${receiveAddress.padStart(6, '0')}`, 16);
  if (length >= 3) return Number.parseInt(`${first}DA${receiveAddress.padStart(4, '0')}`, 16);
  return Number.parseInt(`${first}DA${(tester ?? TESTER).padStart(2, '0')}${receiveAddress.padStart(2, '0')}`, 16);
}
