/** Syntax of line addresses for `can`, `obd` and `gnss` in vigie.yaml. The adapter that opens a line parses it. */
import type { Findings } from './findings.ts';

const forms = 'write /dev/ttyUSB0, serial:/dev/ttyUSB0?baud=38400, tcp://host:port or file:/path';
const flowControls = ['none', 'rtscts', 'xonxoff'];
/** Range of the bit rate of a serial line in bit/s. */
const baud = { least: 50, most: 12_000_000 };

/** Fault of an address, and how to fix it. */
interface AddressFault {
  readonly message: string;
  readonly fix: string;
}

/** Returns the reason why a string is not a line address, or undefined if it is one. Does not open the line. */
export function addressFault(text: string): AddressFault | undefined {
  if (text.startsWith('tcp:')) return tcpFault(text);
  if (text.startsWith('serial:') || text.startsWith('/dev/')) return serialFault(text.replace(/^serial:/, ''));
  const path = text.replace(/^file:/, '');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(path)?.[1];
  if (scheme !== undefined) return { message: `${scheme} is not a kind of line`, fix: forms };
  return path.startsWith('/') ? undefined : { message: 'the path does not begin with /', fix: forms };
}

function tcpFault(text: string): AddressFault | undefined {
  const parts = /^tcp:\/\/(?:\[[0-9a-f:.]+(?:%[^\]]+)?\]|[^\s:/?#@[\]]+)(?::(\d+))?\/?$/i.exec(text);
  const fix = 'write tcp://host:port, an IPv6 address in brackets';
  if (parts === null) return { message: 'this is not a TCP address', fix };
  const [, digits] = parts;
  if (digits === undefined) return { message: 'the port is missing', fix };
  const port = Number(digits);
  return port < 1 || port > 65_535 ? { message: `the port is ${digits}`, fix: 'write one from 1 to 65535' } : undefined;
}

function serialFault(text: string): AddressFault | undefined {
  const [path = '', ...settings] = text.split('?');
  if (!path.startsWith('/')) return { message: 'the device does not begin with /', fix: forms };
  for (const [name, value] of new URLSearchParams(settings.join('?'))) {
    if (name === 'baud') {
      const rate = /^\d{2,8}$/.test(value) ? Number(value) : 0;
      if (rate >= baud.least && rate <= baud.most) continue;
      const fix = `write a whole number from ${baud.least} to ${baud.most}`;
      return { message: `baud is ${JSON.stringify(value)}`, fix };
    }
    if (name !== 'flow') {
      return { message: `a serial line has no setting ${JSON.stringify(name)}`, fix: 'it has baud and flow' };
    }
    if (!flowControls.includes(value)) {
      return { message: `flow is ${JSON.stringify(value)}`, fix: `write ${flowControls.join(' or ')}` };
    }
  }
  return undefined;
}

/** Reports an invalid address at `at`. */
export function checkAddress(text: string, at: string, findings: Findings): void {
  const fault = addressFault(text);
  if (fault !== undefined) findings.error(at, `${JSON.stringify(text)} is not a line: ${fault.message}`, fault.fix);
}
