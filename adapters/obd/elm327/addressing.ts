import { VigieError } from '../../../protocol/errors.ts';
import { hexByte, hexOf } from '../hex.ts';
import { flowFrame } from '../isotp/control.ts';
import { routeOf, usualRequest } from '../isotp/route.ts';
import type { DiagnosticAddress } from '../requester.ts';
import type { Adapter } from './adapter.ts';

/** How one request is to reach the bus. */
export interface Way {
  /** Frames are made and put together on this side (`ATCAF0`), the adapter only carries them. */
  readonly inSoftware: boolean;
  /** Asks for pauses of these many ms between the frames of an answer; 0: none. */
  readonly separation: number;
}

/** Address of the tester unless it is set (`ATTA`). */
const TESTER = 0xf1;

/** CAN identifier that answers come with; undefined: any control unit may answer. */
export function answerId(address: DiagnosticAddress): number | undefined {
  const { request, extended, response } = address;
  if (response !== undefined) return response;
  if (routeOf(address).functional) return undefined;
  return extended ? usualRequest(request, true) : request + 8;
}

/**
 * Header, receive filter, flow control and extended address of a request; sends what is not set so already.
 * The result differs from `wanted` where the adapter lacks what the address needs.
 * @throws VigieError `input.unreadable` when the adapter cannot send with this header
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
 * Header of what is sent from now on.
 * @throws VigieError `input.unreadable`
 */
export async function setHeader(adapter: Adapter, id: number, extended: boolean): Promise<void> {
  const header = hexId(id, extended);
  if (!extended) {
    if (await adapter.set('header', 'ATSH', header)) return;
  } else {
    // The upper five bits stand apart (ELM327 data sheet, "CP hh"); 18 is what they are at first.
    const priority = hexByte(id >>> 24);
    const stands =
      priority === '18' ? adapter.restore('priority', 'ATCP', '18') : adapter.set('priority', 'ATCP', priority);
    if ((await stands) && (await adapter.set('header', 'ATSH', header.slice(2)))) return;
    if (await adapter.set('header', 'ATSH', header)) return;
  }
  throw new VigieError('input.unreadable', `the adapter cannot send with the header ${header}`);
}

/** Frames as they are, or with the control bytes of ISO 15765-2 made by the adapter. */
export async function setFormatting(adapter: Adapter, automatic: boolean): Promise<void> {
  if (automatic) await adapter.revert('formatting', 'ATCAF', '1');
  else if (!(await adapter.set('formatting', 'ATCAF', '0'))) {
    throw new VigieError('input.unreadable', 'the adapter cannot send frames as they are (ATCAF0)');
  }
}

/** An identifier as commands have it: 3 digits for 11 bits, 8 for 29. */
export function hexId(id: number, extended: boolean): string {
  return id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
}

/** Other frames that pass the filter are ignored later: the filter only protects the adapter's small buffer. */
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

/** The older pair of commands; the pair counts as one setting. */
async function setMask(adapter: Adapter, filter: string, mask: string): Promise<void> {
  await adapter.set('filter mask', 'ATCM', mask);
  await adapter.set('filter', 'ATCF', filter);
}

/** True when the adapter handles the address, or there is none. */
async function setExtendedAddress(adapter: Adapter, address: DiagnosticAddress): Promise<boolean> {
  const { target, source } = address;
  if (target === undefined) {
    await adapter.revert('extended address', 'ATCEA', '');
    return true;
  }
  // Adapters let only answers to the tester's address pass: who answers otherwise must be known.
  if (source === undefined) return false;
  const tester = hexByte(source);
  const known = source === TESTER ? adapter.restore('tester', 'ATTA', tester) : adapter.set('tester', 'ATTA', tester);
  return (await known) && adapter.set('extended address', 'ATCEA', hexByte(target));
}

/**
 * Adapters answer first frames by themselves where identifiers are the usual ones (`ATFCSM0`); what else there is has to
 * be given. Where they do not take it, first frames stay without the rest and are answered by software. False when pauses
 * were wanted and cannot be had so.
 */
async function setFlowControl(adapter: Adapter, address: DiagnosticAddress, separation: number): Promise<boolean> {
  const { request, extended, target } = address;
  const id = answerId(address);
  const flow = id === undefined ? undefined : routeOf(address).responder(id, address.source ?? target)?.flowControl;
  const usual = id === undefined || (isUsual(id, extended) && flow === usualRequest(id, extended));
  if (usual && target === undefined && (separation === 0 || id === undefined)) {
    await adapter.revert('flow control mode', 'ATFCSM', '0');
    return true;
  }
  const data = flowFrame('continue', 0, separation);
  const bytes = target === undefined ? hexOf(data) : hexByte(target) + hexOf(data);
  // The mode is taken only when header and data are there (ELM327 data sheet, "FC SM h").
  const taken =
    (await adapter.set('flow control header', 'ATFCSH', hexId(flow ?? request, extended))) &&
    (await adapter.set('flow control data', 'ATFCSD', bytes)) &&
    (await adapter.set('flow control mode', 'ATFCSM', '1'));
  return taken || separation === 0;
}

function isUsual(answer: number, extended: boolean): boolean {
  return extended ? (answer & 0xffffff00) >>> 0 === 0x18daf100 : answer >= 0x7e8 && answer <= 0x7ef;
}
