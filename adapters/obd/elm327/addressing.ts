import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { hexOf } from '../hex.ts';
import { flowFrame } from '../isotp/control.ts';
import { isUsualAnswer, routeOf, usualRequest } from '../isotp/route.ts';
import type { DiagnosticAddress } from '../requester.ts';
import type { Adapter } from './adapter.ts';

/** Method of sending one request to the bus. */
export interface Way {
  /** If true, software builds and reassembles frames (`ATCAF0`), and the adapter only transmits them. */
  readonly inSoftware: boolean;
  /** Requested pause in ms between the frames of an answer; 0: none. */
  readonly separation: number;
}

/** Default address of the tester (`ATTA`). */
const TESTER = 0xf1;

/** Returns the CAN identifier of the answers; undefined if any control unit may answer. */
export function answerId(address: DiagnosticAddress): number | undefined {
  const { request, extended, response } = address;
  if (response !== undefined) return response;
  if (routeOf(address).functional) return undefined;
  return extended ? usualRequest(request, true) : request + 8;
}

/**
 * Sets header, receive filter, flow control and extended address of a request; sends only changed settings.
 * The result differs from `wanted` if the adapter does not support what the address requires.
 * @throws VigieError `input.unreadable` if the adapter cannot send with this header
 */
export async function setAddress(adapter: Adapter, address: DiagnosticAddress, wanted: Way): Promise<Way> {
  await setHeader(adapter, address.request, address.extended);
  await setFilter(adapter, address);
  const inSoftware =
    wanted.inSoftware ||
    !(await setExtendedAddress(adapter, address)) ||
    !(await setFlowControl(adapter, address, wanted.separation));
  if (inSoftware) {
    await adapter.revert('extended address', 'ATCEA', '');
    // For an address that looks like a first frame, the adapter would send flow control without the required pauses.
    await adapter.set('flow control', 'ATCFC', '0');
  } else await adapter.revert('flow control', 'ATCFC', '1');
  await setFormatting(adapter, !inSoftware);
  return { ...wanted, inSoftware };
}

/**
 * Sets the header of all further requests.
 * @throws VigieError `input.unreadable`
 */
export async function setHeader(adapter: Adapter, id: number, extended: boolean): Promise<void> {
  const header = hexId(id, extended);
  if (!extended) {
    if (await adapter.set('header', 'ATSH', header)) return;
  } else {
    // The upper five bits have a separate command (ELM327 data sheet, "CP hh"); their default is 18.
    const priority = hexByte(id >>> 24);
    const stands =
      priority === '18' ? adapter.restore('priority', 'ATCP', '18') : adapter.set('priority', 'ATCP', priority);
    if ((await stands) && (await adapter.set('header', 'ATSH', header.slice(2)))) return;
    if (await adapter.set('header', 'ATSH', header)) return;
  }
  throw new VigieError('input.unreadable', `the adapter cannot send with the header ${header}`);
}

/** Selects raw frames, or frames whose control bytes of ISO 15765-2 the adapter adds. */
export async function setFormatting(adapter: Adapter, automatic: boolean): Promise<void> {
  if (automatic) await adapter.revert('formatting', 'ATCAF', '1');
  else if (!(await adapter.set('formatting', 'ATCAF', '0'))) {
    throw new VigieError('input.unreadable', 'the adapter cannot send frames as they are (ATCAF0)');
  }
}

/** Formats an identifier as in commands: 3 digits for 11 bits, 8 for 29. */
export function hexId(id: number, extended: boolean): string {
  return id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
}

/** Sets the receive filter. It only protects the adapter's small buffer: other frames that pass are ignored later. */
async function setFilter(adapter: Adapter, address: DiagnosticAddress): Promise<void> {
  const { extended } = address;
  const id = answerId(address);
  if (id !== undefined) {
    const answer = hexId(id, extended);
    if (await adapter.set('filter', 'ATCRA', answer)) return;
    await setMask(adapter, answer, extended ? '1FFFFFFF' : '7FF');
  } else if (!(await adapter.restore('filter', 'ATCRA', ''))) {
    await setMask(adapter, extended ? '18DAF100' : '7E8', extended ? '1FFFFF00' : '7F8');
  }
}

/** Sets filter and mask with the older pair of commands; the pair counts as one setting. */
async function setMask(adapter: Adapter, filter: string, mask: string): Promise<void> {
  await adapter.set('filter mask', 'ATCM', mask);
  await adapter.set('filter', 'ATCF', filter);
}

/** Returns true if the adapter handles the address, or there is none. */
async function setExtendedAddress(adapter: Adapter, address: DiagnosticAddress): Promise<boolean> {
  const { target, source } = address;
  if (target === undefined) {
    await adapter.revert('extended address', 'ATCEA', '');
    return true;
  }
  // Adapters pass only answers to the tester's address, so an answer to another address must name it.
  if (source === undefined) return false;
  const tester = hexByte(source);
  const known = source === TESTER ? adapter.restore('tester', 'ATTA', tester) : adapter.set('tester', 'ATTA', tester);
  return (await known) && adapter.set('extended address', 'ATCEA', hexByte(target));
}

/**
 * Sets flow control. Adapters answer first frames automatically for the usual identifiers (`ATFCSM0`); other values
 * must be set. If the adapter refuses them, it leaves first frames unanswered and software answers them. Returns false
 * if pauses were requested and are not possible this way.
 */
async function setFlowControl(adapter: Adapter, address: DiagnosticAddress, separation: number): Promise<boolean> {
  const { request, extended, target } = address;
  const id = answerId(address);
  const flow = id === undefined ? undefined : routeOf(address).responder(id, address.source ?? target)?.flowControl;
  const usual = id === undefined || (isUsualAnswer(id, extended) && flow === usualRequest(id, extended));
  if (usual && target === undefined && (separation === 0 || id === undefined)) {
    await adapter.revert('flow control mode', 'ATFCSM', '0');
    return true;
  }
  const data = flowFrame('continue', 0, separation);
  const bytes = target === undefined ? hexOf(data) : hexByte(target) + hexOf(data);
  // The mode is accepted only after header and data (ELM327 data sheet, "FC SM h").
  const taken =
    (await adapter.set('flow control header', 'ATFCSH', hexId(flow ?? request, extended))) &&
    (await adapter.set('flow control data', 'ATFCSD', bytes)) &&
    (await adapter.set('flow control mode', 'ATFCSM', '1'));
  return taken || separation === 0;
}
