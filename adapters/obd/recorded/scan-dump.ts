/**
 * Text that the Open Vehicle Monitoring System prints for requests to one control unit.
 *
 *     Scan started: bus 1, ecu 7e0, rxid 7e8-7e8, polltype 22, PID f100-f1ff, timeout 3 seconds
 *     7e0[7e8]:f190 31 47 31 4a                       `re obdii scan`: 16-bit identifier and data, without service
 *     7e0[7e8] 22F190: Response:                      `obdii can1 request device`: the whole request
 *     31 47 31 4a                                     | 1G1J
 *     7e0[7e8] 22F191: ERROR: request failed with response error code 31 requestOutOfRange
 */
import { hexByte } from '../../../protocol/hex.ts';
import { bytesOf } from '../hex.ts';
import { NEGATIVE } from '../negative-response.ts';

/** One request with its answer, or the reason why there is none. */
export interface DumpedExchange {
  /** Identifiers as printed, upper-case hex. */
  readonly to: string;
  /** Header of the answer; empty if the line does not name the control unit. */
  readonly unit: string;
  readonly request: Uint8Array;
  readonly answer?: Uint8Array;
  readonly error?: string;
}

type DumpLine = DumpedExchange | { readonly error: string } | undefined;

/** Services with a 16-bit identifier, which the answer echoes (of those that the tool knows). */
const LONG_IDENTIFIERS: ReadonlySet<number> = new Set([0x05, 0x22, 0x24, 0x2e, 0x2f]);

/** Services that echo nothing. */
const WITHOUT_IDENTIFIER: ReadonlySet<number> = new Set([0x03, 0x04, 0x07, 0x0a, 0x14, 0x18, 0x23]);

const DATA_BY_IDENTIFIER = 0x22;

const SCANNED = /^([0-9a-f]{3})\[([0-9a-f]{3})\]:([0-9a-f]{4})((?: [0-9a-f]{2})*)$/i;
const REQUESTED = /^([0-9a-f]{1,8})\[([0-9a-f]{1,8})\] ((?:[0-9a-f]{2})+): (Response:|ERROR: .*)$/i;
const DUMPED = /^((?:[0-9a-f]{2} ){1,16}) *\| /i;
const ANY = /^[0-9a-f]{1,8}\[[0-9a-f]{1,8}\]/i;
const STATE = /^(?:Scan (?:started|running|complete|results|stopped)\b|No scan running)/;

/** Bytes of a full line of a response. */
const LINE_BYTES = 16;

/** Returns true if a line is from such a printed scan. */
export function isScanDump(line: string): boolean {
  return ANY.test(line) || STATE.test(line);
}

/** Reads a printed scan line by line. */
export class ScanDump {
  /** Number of lines without service that were read as service 22, which the scanner uses unless told otherwise. */
  assumed = 0;
  /** Service of the scan, from its first line. */
  #service: number | undefined;
  #begun: { readonly exchange: DumpedExchange; readonly data: number[] } | undefined;

  /** True if the next line may continue a response. */
  get continues(): boolean {
    return this.#begun !== undefined;
  }

  /** Returns the exchanges that the line completes, or its error. */
  line(text: string): readonly Exclude<DumpLine, undefined>[] {
    const data = this.#begun === undefined ? undefined : DUMPED.exec(`${text} `.replace(/^ +/, ''))?.[1];
    if (data !== undefined && this.#begun !== undefined) {
      const bytes = bytesOf(data.replaceAll(' ', '')) as Uint8Array;
      this.#begun.data.push(...bytes);
      return bytes.length < LINE_BYTES ? this.end() : [];
    }
    const ended = this.end();
    const next = this.#single(text.trim());
    return next === undefined ? ended : [...ended, next];
  }

  /** Call after the last line. */
  end(): readonly DumpedExchange[] {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined) return [];
    const { request } = begun.exchange;
    const service = request[0] as number;
    const size = WITHOUT_IDENTIFIER.has(service) ? 0 : LONG_IDENTIFIERS.has(service) ? 2 : 1;
    const answer = Uint8Array.of(service + 0x40, ...request.subarray(1, 1 + size), ...begun.data);
    return [{ ...begun.exchange, answer }];
  }

  #single(text: string): DumpLine {
    if (text.startsWith('Scan started')) {
      const service = /\bpolltype ([0-9a-f]{1,2})\b/i.exec(text)?.[1];
      this.#service = service === undefined ? undefined : Number.parseInt(service, 16);
    }
    if (STATE.test(text)) return undefined;
    const scanned = SCANNED.exec(text);
    if (scanned !== null) return this.#scanned(scanned);
    const requested = REQUESTED.exec(text);
    if (requested !== null) return this.#requested(requested);
    const known = 'known are 7e0[7e8]:f190 31 47 and 7e0[7e8] 22F190: Response:';
    return { error: `${text.slice(0, 60)}: an unknown form of a scan; ${known}` };
  }

  #scanned([text, to = '', unit = '', identifier = '', data = '']: RegExpExecArray): DumpLine {
    const short = identifier.startsWith('00');
    if (this.#service === undefined && short) {
      const why = 'the line does not name the service, and an identifier below 0100 may have 8 bits';
      return { error: `${text}: ${why}; keep the line "Scan started: … polltype" of the scan` };
    }
    const service = this.#service ?? DATA_BY_IDENTIFIER;
    if (!LONG_IDENTIFIERS.has(service)) {
      const why = `a scan of service ${hexByte(service)} leaves out the first data byte`;
      return { error: `${text}: ${why}; use "obdii can1 request device"` };
    }
    if (this.#service === undefined) this.assumed++;
    const echoed = bytesOf(identifier) as Uint8Array;
    const answer = Uint8Array.of(service + 0x40, ...echoed, ...(bytesOf(data.replaceAll(' ', '')) as Uint8Array));
    const request = Uint8Array.of(service, ...echoed);
    return { to: to.toUpperCase(), unit: unit.toUpperCase(), request, answer };
  }

  #requested([, to = '', from = '', asked = '', outcome = '']: RegExpExecArray): DumpLine {
    const request = bytesOf(asked) as Uint8Array;
    const unit = Number.parseInt(from, 16) === 0 ? '' : headerOf(from);
    const exchange = { to: headerOf(to), unit, request };
    if (outcome.startsWith('Response')) {
      this.#begun = { exchange, data: [] };
      return undefined;
    }
    const code = /response error code ([0-9a-f]{2})\b/i.exec(outcome)?.[1];
    if (code === undefined) return { ...exchange, error: outcome.replace(/^ERROR: /i, '') };
    return { ...exchange, answer: Uint8Array.of(NEGATIVE, request[0] as number, Number.parseInt(code, 16)) };
  }
}

function headerOf(printed: string): string {
  return printed.toUpperCase().padStart(printed.length > 3 ? 8 : 3, '0');
}
