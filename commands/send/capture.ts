/** Builds requests for captures of raw frames from command-line arguments. */
import type { CaptureOrder } from '../../protocol/schema/order.ts';
import { type Details, named, type SendRequest, timeOf, wrong } from './request.ts';

/** Returns the request for the capture with this name. Omitted fields default to those of the profile. */
export function captureOf(name: string, { before, after, buses, identifiers }: Details): SendRequest {
  const body: CaptureOrder = {
    name: named(name),
    ...(before === undefined ? {} : { before: timeOf(before, '--before') }),
    ...(after === undefined ? {} : { after: timeOf(after, '--after') }),
    ...(buses === undefined ? {} : { buses: buses.split(',') }),
    ...(identifiers === undefined ? {} : { identifiers: identifiers.split(',').map(identifierOf) }),
  };
  return { kind: 'Capture', body };
}

function identifierOf(text: string): number {
  const id = /^(0x)?[0-9A-Fa-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  if (id <= 0x1fff_ffff) return id;
  throw wrong(`"${text}" is not a CAN identifier in hexadecimal, such as 1A0 or 18FEF100`);
}
