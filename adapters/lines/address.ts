/** Parses addresses of lines. */

import type { Clock, OpenLine } from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { fileLine } from './file.ts';
import { type FlowControl, serialLine } from './serial.ts';
import { tcpLine } from './tcp.ts';

type LineAddress =
  | { readonly kind: 'serial'; readonly path: string; readonly baudRate: number; readonly flowControl: FlowControl }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'file'; readonly path: string };

const forms = 'write /dev/ttyUSB0, serial:/dev/ttyUSB0?baud=38400, tcp://host:port or file:/path';
const flowControls: readonly FlowControl[] = ['none', 'rtscts', 'xonxoff'];
/** Lowest and highest rate in bit/s that the kernel supports (termios(3)). Any rate between them can be requested. */
const slowest = 50;
const fastest = 12_000_000;

/**
 * | address | line |
 * |---|---|
 * | `/dev/ttyUSB0` | serial, with the usual rate of the protocol on it |
 * | `serial:/dev/ttyUSB0?baud=38400&flow=rtscts` | serial; `flow` is `none`, `rtscts` or `xonxoff` |
 * | `tcp://host:2947`, `tcp://[::1]:2947` | TCP |
 * | `file:/run/nmea`, `/run/nmea` | a named pipe or a file that grows |
 *
 * @param baudRate for a serial line whose address has none
 * @param where place that the error names, e.g. the line of a configuration
 * Throws `configuration.wrong`.
 */
export function readLineAddress(text: string, baudRate: number, where?: string): LineAddress {
  const wrong = (what: string): never => {
    throw new VigieError('configuration.wrong', `${JSON.stringify(text)} is not a line: ${what}`, defined({ where }));
  };
  if (text.startsWith('tcp:')) return readTcp(text, wrong);
  if (text.startsWith('serial:')) return readSerial(text.slice('serial:'.length), baudRate, wrong);
  if (text.startsWith('/dev/')) return readSerial(text, baudRate, wrong);
  const path = text.startsWith('file:') ? text.slice('file:'.length) : text;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(path);
  if (scheme !== null) wrong(`${scheme[1]} is not a kind of line; ${forms}`);
  if (!path.startsWith('/')) wrong(`${path === '' ? 'there is no path' : 'the path does not begin with /'}; ${forms}`);
  return { kind: 'file', path };
}

function readSerial(text: string, usual: number, wrong: (what: string) => never): LineAddress {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  if (!path.startsWith('/'))
    wrong(`${path === '' ? 'there is no device' : 'the device does not begin with /'}; ${forms}`);
  let baudRate = usual;
  let flowControl: FlowControl = 'none';
  for (const [name, value] of new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1))) {
    if (name === 'baud') {
      baudRate = /^\d{2,8}$/.test(value) ? Number(value) : 0;
      if (baudRate < slowest || baudRate > fastest) {
        wrong(`baud is ${JSON.stringify(value)}; write a whole number from ${slowest} to ${fastest}`);
      }
    } else if (name === 'flow') {
      const known = flowControls.find((flow) => flow === value);
      flowControl = known ?? wrong(`flow is ${JSON.stringify(value)}; write ${flowControls.join(', ')}`);
    } else {
      wrong(`${JSON.stringify(name)} is not a setting of a serial line; known are baud and flow`);
    }
  }
  return { kind: 'serial', path, baudRate, flowControl };
}

function readTcp(text: string, wrong: (what: string) => never): LineAddress {
  const parts = /^tcp:\/\/(?:\[([0-9a-f:.]+(?:%[^\]]+)?)\]|([^\s:/?#@[\]]+))(?::(\d+))?\/?$/i.exec(text);
  if (parts === null) return wrong('write tcp://host:port, an IPv6 address in brackets');
  const [, bracketed, name, digits] = parts;
  if (digits === undefined) return wrong('the port is missing, write tcp://host:port');
  const port = Number(digits);
  if (port < 1 || port > 65_535) return wrong(`the port is ${digits}, not from 1 to 65535`);
  return { kind: 'tcp', host: (bracketed ?? name) as string, port };
}

/** Returns a function that opens the line. `rest` reports whether the unit sleeps. */
export function lineTo(address: LineAddress, clock: Clock, rest?: Rest): OpenLine {
  switch (address.kind) {
    case 'serial':
      return serialLine({ ...address, ...defined({ rest }) });
    case 'tcp':
      return tcpLine(address);
    case 'file':
      return fileLine({ path: address.path, clock });
  }
}
