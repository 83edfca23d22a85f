import { VigieError } from '../../../protocol/errors.ts';
import { adapterLines } from '../adapter-line.ts';
import type { Adapter } from './adapter.ts';

/**
 * Protocols by the adapters' numbers (ELM327 data sheet, "SP h"): 1 and 2 SAE J1850, 3 ISO 9141-2, 4 and 5 ISO 14230-4,
 * 6 to 9 ISO 15765-4 with 11/500, 29/500, 11/250 and 29/250 bits and kbit/s, A SAE J1939, B and C user-defined.
 */
export const protocols = ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C'] as const;
export type Protocol = (typeof protocols)[number];

/** Parts of protocol names (`ATDP`), for adapters that do not report the number. */
const NAMES: readonly (readonly [RegExp, Protocol])[] = [
  [/J1850 PWM/i, '1'],
  [/J1850 VPW/i, '2'],
  [/9141/, '3'],
  [/14230.*(?:5 ?BAUD|SLOW)/i, '4'],
  [/14230/, '5'],
  [/11\/500/, '6'],
  [/29\/500/, '7'],
  [/11\/250/, '8'],
  [/29\/250/, '9'],
  [/J1939/i, 'A'],
];

/** Protocol of the same bus with the other identifier length. */
const OTHER_LENGTH: Readonly<Partial<Record<Protocol, Protocol>>> = { 6: '7', 7: '6', 8: '9', 9: '8' };

/** Timeouts of the protocol search: adapters try all protocols in turn, some at 5 baud. */
const SEARCH = { quiet: 30_000, total: 60_000 };

/** Settings that a change of protocol may reset: they must be sent again. */
const OF_PROTOCOL = [
  'header',
  'priority',
  'filter',
  'filter mask',
  'flow control header',
  'flow control data',
  'flow control mode',
  'extended address',
  'time-out',
];

export function isCan(protocol: Protocol): boolean {
  return protocol >= '6' && protocol !== 'A';
}

/**
 * Sets the protocol for identifiers of this length.
 * @throws VigieError `input.unreadable` if the adapter refuses it
 */
export async function setProtocol(adapter: Adapter, protocol: Protocol, extended: boolean): Promise<Protocol> {
  const long = protocol === '7' || protocol === '9';
  const wanted = long === extended ? protocol : (OTHER_LENGTH[protocol] ?? protocol);
  const stands = ['ATSP', 'ATTP'].some((verb) => adapter.stands('protocol', verb + wanted));
  if (!stands) await choose(adapter, wanted);
  return wanted;
}

/**
 * Lets the adapter detect the car's protocol; it requests service 01 PID 00 from all control units.
 * @throws VigieError `input.unreadable` if no control unit answers
 */
export async function findProtocol(adapter: Adapter): Promise<Protocol> {
  await choose(adapter, '0');
  const text = await adapter.ask('0100', SEARCH);
  const lines = adapterLines(text);
  const headers = lines.flatMap((line) => (line.kind === 'frame' || line.kind === 'message' ? [line.header] : []));
  if (headers.length === 0 && !lines.some(({ kind }) => kind === 'bare' || kind === 'segment')) {
    const complaint = lines.find((line) => line.kind === 'complaint');
    if (complaint?.reason === 'unreadable') adapter.suspect();
    const why = complaint === undefined ? 'no answer' : `${complaint.text}: ${complaint.meaning}`;
    throw new VigieError('input.unreadable', `no control unit answers (${why})`);
  }
  return (await askedProtocol(adapter)) ?? byHeader(headers[0]);
}

async function askedProtocol(adapter: Adapter): Promise<Protocol | undefined> {
  const number = /^A?([1-9A-C])$/i.exec((await adapter.command('ATDPN')) ?? '')?.[1]?.toUpperCase();
  if (number !== undefined) return protocols.find((protocol) => protocol === number);
  const name = (await adapter.command('ATDP')) ?? '';
  return NAMES.find(([words]) => words.test(name))?.[1];
}

/** Returns the protocol that the header of an answer indicates; for CAN, the one with the usual bit rate. */
function byHeader(header: string | undefined): Protocol {
  if (header?.length === 6) return '3';
  return header?.length === 8 ? '7' : '6';
}

async function choose(adapter: Adapter, protocol: Protocol | '0'): Promise<void> {
  const taken = (await adapter.set('protocol', 'ATSP', protocol)) || (await adapter.set('protocol', 'ATTP', protocol));
  adapter.uncertain(...OF_PROTOCOL);
  if (!taken) throw new VigieError('input.unreadable', `the adapter does not take protocol ${protocol}`);
}
