import { hexByte } from '../../protocol/hex.ts';
import { type ModelYears, yearsText } from './model-years.ts';

/** Destination of a request and source of its answer, as spelled in a signal set. */
interface Address {
  readonly header: string;
  readonly receiveAddress: string | undefined;
  readonly tester: string | undefined;
  readonly priority: string | undefined;
}

/** Address of the tester in 29-bit identifiers (ISO 15765-4 §8.3). */
const TESTER = 'F1';

/**
 * Returns the headers of an answer as adapters print them, upper-case hex without spaces: three digits for an 11-bit
 * identifier; for 29 bits the last six of eight digits, because the priority is not part of the address. Undefined if
 * the signal set does not name the unit that answers.
 */
export function responseHeaders({ header, receiveAddress, tester }: Address): string[] | undefined {
  if (receiveAddress === undefined) return undefined;
  if (header.length <= 3) return [receiveAddress.slice(-3).padStart(3, '0')];
  if (receiveAddress.length >= 5) return [receiveAddress.padStart(6, '0').slice(-6)];
  if (receiveAddress.length >= 3) return [`DA${receiveAddress.padStart(4, '0')}`];
  const target = receiveAddress.padStart(2, '0');
  return [...new Set([TESTER, tester ?? TESTER])].map((to) => `DA${to}${target}`);
}

/** Formats an identifier as adapters print it: three digits for 11 bits, eight for 29 (or an older bus's header). */
export function headerText(id: number): string {
  return id <= 0x7ff ? id.toString(16).toUpperCase().padStart(3, '0') : id.toString(16).toUpperCase().padStart(8, '0');
}

/** Names a control unit by the identifier of its answers: as {@link headerText}, but six digits on buses before CAN. */
export function unitName(id: number): string {
  return headerText(id).replace(/^00(?=.{6}$)/, '');
}

/** Returns the header in the form used to compare answers: see {@link responseHeaders}. */
export function comparable(header: string): string {
  return header.length === 8 ? header.slice(2) : header;
}

/**
 * Returns true if an answer's header is the one that the standard pairs with the request's (ISO 15765-4 §8.2, §8.3):
 * 7E0 + 8 and the like; any ECU for functional requests; DA xx F1 answers as DA F1 xx.
 */
export function isUsualAnswer(request: string, header: string): boolean {
  const answer = comparable(header);
  if (request.length === 3) {
    if (request === '7DF') return /^7E[89A-F]$/.test(answer);
    return answer === (Number.parseInt(request, 16) + 8).toString(16).toUpperCase().padStart(3, '0');
  }
  if (request.startsWith('DB')) return answer.startsWith('DAF1');
  if (request.startsWith('DA')) return answer === `DA${TESTER}${request.slice(2)}`;
  return (request === '686A' || request === '616A') && /^4[18]6B/.test(answer);
}

interface CommandParts extends Address {
  readonly service: number;
  readonly parameter: string;
  readonly extendedAddress: string | undefined;
  readonly timeout: string | undefined;
  readonly flowControl: boolean;
  readonly protocol: string | undefined;
  readonly years: ModelYears | undefined;
}

/** Returns a command's identifier as the collection spells it, e.g. `750.758.2130|e=2A,ta=2A,fc=1,f=2014-2015`. */
export function commandId(command: CommandParts): string {
  const { timeout, extendedAddress, tester, priority, years } = command;
  const properties: string[] = [];
  if (timeout !== undefined) properties.push(`t=${timeout}`);
  if (extendedAddress !== undefined) properties.push(`e=${extendedAddress}`);
  if (tester !== undefined) properties.push(`ta=${tester}`);
  if (command.flowControl) properties.push('fc=1');
  if (command.protocol === '9141-2') properties.push('p=9141-2');
  if (priority !== undefined) properties.push(`c=${priority}`);
  if (years !== undefined) properties.push(`f=${yearsText(years)}`);
  const path = [command.header, command.receiveAddress, `${hexByte(command.service)}${command.parameter}`];
  const name = path.filter((part) => part !== undefined).join('.');
  return properties.length === 0 ? name : `${name}|${properties.join(',')}`;
}

/** Name of a command for users and tests: `010D`, `01 0D`, `7E0.010D`, `7E0.7E8.2101|f=-2018`. */
interface CommandName {
  readonly header: string | undefined;
  readonly receiveAddress: string | undefined;
  /** Service and parameter, upper-case hex. */
  readonly request: string;
  /** Model years, as spelled by {@link yearsText}. */
  readonly years: string | undefined;
}

/** Parses a command name; undefined if invalid. A digit after the bytes (`010D1`) is the adapter's count of answers. */
export function commandName(text: string): CommandName | undefined {
  const [path = '', properties = ''] = text.trim().toUpperCase().split('|', 2);
  const parts = path.split('.').map((part) => part.replaceAll(' ', ''));
  const request = parts.pop() ?? '';
  if (parts.length > 2 || request.length < 2 || ![...parts, request].every((part) => /^[0-9A-F]+$/.test(part))) {
    return undefined;
  }
  const years = properties.split(',').find((property) => property.startsWith('F='));
  return {
    header: parts[0],
    receiveAddress: parts[1],
    request: request.length % 2 === 0 ? request : request.slice(0, -1),
    years: years?.slice(2),
  };
}
