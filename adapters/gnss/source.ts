/** A source of live fixes: a receiver, or gpsd. */

import type {
  Clock,
  Log,
  OpenLine,
  ReadingSink,
  ReadingSource,
  SourceHealth,
  WantedSignal,
} from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { ReconnectingLine } from '../../agent/reconnecting-line.ts';
import { DAY } from '../../protocol/calendar.ts';
import type { Fix, FixParser } from './fix.ts';
import { GpsdParser } from './gpsd.ts';
import { NmeaParser } from './nmea.ts';
import type { FixFormat } from './reader.ts';
import { FixReadings } from './readings.ts';

/**
 * Receives the time of a receiver, to set a clock.
 * @param time UTC ms of a measurement with a fix; no more accurate than the receiver
 * @param received monotonic time in ms of the first byte of that measurement: later than `time` by the delay of
 * receiver and line
 */
export type FixTime = (time: number, received: number) => void;

export interface GnssSourceOptions {
  /** Device or address, for diagnostics. */
  readonly name: string;
  /** Protocol of the line: NMEA 0183 (or SiRF binary), or the reports of gpsd. */
  readonly format: FixFormat;
  readonly open: OpenLine;
  readonly clock: Clock;
  readonly log?: Log;
  /** Earliest time in UTC ms that a receiver can send, such as the day of the build. */
  readonly earliest: number;
  /** Omitted for a line that may carry recordings, such as a file: they contain the time of another day. */
  readonly time?: FixTime;
  /** Time in ms without a byte, or without a record, after which the line is reopened. Default 10 s. */
  readonly silence?: number;
  /** Sleep state of the unit: the line is closed during sleep; default: never asleep. */
  readonly rest?: Rest;
  /** Returns numbers from 0 (included) to 1 (excluded). */
  readonly random?: () => number;
}

const SILENCE = 10_000;
/** Number of bytes from which an unsupported protocol is identified. */
const STRANGE = 1_024;
/** Largest number of message kinds that are named. */
const KINDS = 3;
/** Silence in ms of a receiver after which its epoch is complete: the sentences of an epoch follow each other. */
const PAUSE = 150;
/**
 * Maximum difference in ms between a fix's own time and its time of arrival; beyond it, the time of arrival is used.
 */
const CREDIBLE = 2_000;
/** Period in ms after which GPS week numbers repeat (IS-GPS-200, 20.3.3.3.1.1); times start at `earliest`. */
const ERA = 1024 * 7 * DAY;

/** Request of gpsd_json(5). */
const watch = new TextEncoder().encode('?WATCH={"enable":true,"json":true};\n');
const askDevices = new TextEncoder().encode('?DEVICES;\n');

export class GnssSource implements ReadingSource {
  readonly apart = true;
  readonly #options: GnssSourceOptions;
  readonly #kept: ReconnectingLine;
  readonly #silence: number;
  #parser: FixParser;
  #readings: FixReadings | undefined;
  /** Monotonic time in ms of the first byte that is not yet part of a fix. */
  #begun: number | undefined;
  /** Monotonic time in ms of the last record, or of the opening of the line. */
  #sense = 0;
  #records = 0;
  #garbled = false;
  /** Bytes since the line was opened, until a record is found. */
  #strange: Uint8Array[] = [];
  #strangeSize = 0;
  /** Protocol that the receiver uses instead of the configured one. */
  #protocol: string | undefined;
  #latest = Number.NEGATIVE_INFINITY;
  #fixes = 0;
  #positions = 0;
  /** Counters of the parsers of earlier lines. */
  #countedBefore = { records: 0, broken: 0 };
  #cancelPause: () => void = () => undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: GnssSourceOptions) {
    this.#options = options;
    this.#parser = parserOf(options);
    const { open, clock, log, name, random = Math.random, silence = SILENCE } = options;
    this.#silence = silence;
    this.#kept = new ReconnectingLine(
      { open, clock, random, log, name },
      {
        opened: () => this.#opened(),
        data: (bytes) => this.#data(bytes),
        ended: () => this.#ended(),
        idle: () => this.#idle(),
      },
    );
    this.#kept.silence = silence;
  }

  start(wanted: readonly WantedSignal[], sink: ReadingSink): Promise<void> {
    const { rest } = this.#options;
    this.#readings = new FixReadings(wanted, sink);
    this.#unsubscribe ??= rest?.subscribe((asleep) => (asleep ? this.#leave() : this.#kept.start()));
    if (rest?.asleep !== true) this.#kept.start();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#cancelPause();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#readings = undefined;
    await this.#kept.stop();
  }

  /**
   * `running` after a readable record arrived on the open line. Counts: `fixes`, `positions` (fixes with a position),
   * `records` (sentences or reports), `broken` (unreadable ones), `opened`, `lost` and `refused` lines.
   */
  readonly health = (): SourceHealth => {
    const line = this.#kept.health();
    const sleeps = this.#unsubscribe !== undefined && this.#options.rest?.asleep === true;
    const counts = {
      fixes: this.#fixes,
      positions: this.#positions,
      records: this.#countedBefore.records + this.#parser.records,
      broken: this.#countedBefore.broken + this.#parser.faults.count,
      ...line.counts,
    };
    if (sleeps) return { state: 'waiting', reason: 'the unit sleeps', counts };
    if (line.state !== 'running') return { ...line, counts };
    if (this.#parser instanceof GpsdParser && this.#parser.devices === 0) {
      return { state: 'waiting', reason: 'gpsd has no receiver', counts };
    }
    if (this.#parser.records > 0) return { state: 'running', ...this.#withoutFix(), counts };
    const reason = this.#garbled ? { reason: this.#whyGarbled() } : {};
    return { state: 'opening', ...reason, counts };
  };

  /** Returns the reason if the receiver's messages are readable but contain no fix. */
  #withoutFix(): { readonly reason?: string } {
    const { others, unproven } = this.#parser;
    if (this.#fixes > 0) return {};
    if (unproven > 0)
      return { reason: 'positions come without NAV-SOL, which says whether they are valid: send NAV-PVT' };
    if (others.size === 0) return {};
    const kinds = [...others.keys()].slice(0, KINDS).join(', ');
    return { reason: `no message tells a position (${kinds}): set the receiver to send NAV-PVT or sentences` };
  }

  #whyGarbled(): string {
    if (this.#protocol === undefined) return garbled;
    return `the receiver speaks ${this.#protocol}, which is not read: set it to NMEA 0183 or UBX`;
  }

  /** Identifies the protocol of a receiver whose data is unreadable. */
  async #identify(): Promise<void> {
    const bytes = Buffer.concat(this.#strange);
    // Not needed while the receiver uses the configured protocol.
    const { identifyProtocol } = await import('./unread.ts');
    this.#protocol = identifyProtocol(bytes);
  }

  #opened(): Promise<void> | undefined {
    this.#parser = parserOf(this.#options);
    this.#sense = this.#options.clock.monotonic();
    this.#records = 0;
    this.#garbled = false;
    this.#strange = [];
    this.#strangeSize = 0;
    this.#begun = undefined;
    return this.#options.format === 'gpsd' ? this.#kept.write(watch) : undefined;
  }

  #data(bytes: Uint8Array): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    this.#begun ??= now;
    const fixes = this.#parser.push(bytes);
    // The first fix began earlier; each further one, and the unfinished one, began with these bytes.
    for (const fix of fixes) {
      this.#deliver(fix, this.#begun);
      this.#begun = now;
    }
    if (this.#parser.records > this.#records) {
      this.#records = this.#parser.records;
      this.#sense = now;
      this.#protocol = undefined;
    } else if (now - this.#sense >= this.#silence) {
      this.#kept.restart(this.#whyGarbled());
      return;
    } else if (this.#records === 0) {
      this.#garbled = true;
      this.#keep(bytes);
    }
    this.#cancelPause();
    this.#cancelPause = clock.after(PAUSE, () => this.#settle());
  }

  /** Stores bytes until there are enough to identify the protocol. */
  #keep(bytes: Uint8Array): void {
    if (this.#strangeSize >= STRANGE) return;
    this.#strange.push(bytes.slice(0, STRANGE));
    this.#strangeSize += bytes.length;
    // If the module cannot be loaded, the line is still opened again.
    if (this.#strangeSize >= STRANGE) this.#identify().catch(() => undefined);
  }

  #settle(): void {
    const begun = this.#begun ?? this.#options.clock.monotonic();
    this.#begun = undefined;
    for (const fix of this.#parser.settle()) this.#deliver(fix, begun);
  }

  /** Closes the line during sleep: the unit then needs no position. */
  #leave(): void {
    this.#ended();
    // If the line cannot be closed, the next opening reports that.
    this.#kept.stop().catch(() => undefined);
  }

  /** Drops an unfinished record of the closed line, since it is not a whole fix. */
  #ended(): void {
    this.#cancelPause();
    this.#countedBefore = {
      records: this.#countedBefore.records + this.#parser.records,
      broken: this.#countedBefore.broken + this.#parser.faults.count,
    };
    this.#parser = parserOf(this.#options);
  }

  /** Asks a silent gpsd for its receivers: without a receiver it is silent but alive, and answers. */
  #idle(): void {
    if (this.#options.format !== 'gpsd') return;
    this.#kept.write(askDevices).catch((error: Error) => this.#kept.restart(error.message));
  }

  #deliver(fix: Fix, received: number): void {
    this.#fixes++;
    if (fix.fix !== 'none') this.#positions++;
    // The time of a receiver without a fix is arbitrary.
    if (fix.t !== undefined && fix.fix !== 'none') this.#options.time?.(fix.t, received);
    this.#readings?.deliver(fix, this.#instant(fix, received));
  }

  /** Returns the time in UTC ms of a fix: never after the present, and not before the previous fix. */
  #instant({ t }: Fix, received: number): number {
    const { clock } = this.#options;
    const now = clock.now();
    const came = now - (clock.monotonic() - received);
    const at = t !== undefined && Math.abs(t - came) <= CREDIBLE ? t : came;
    this.#latest = Math.min(now, Math.max(at, this.#latest));
    return this.#latest;
  }
}

const garbled = 'the received bytes are not from a satellite receiver; check the speed of the line';

function parserOf({ format, name, earliest }: GnssSourceOptions): FixParser {
  return format === 'gpsd'
    ? new GpsdParser({ file: name })
    : new NmeaParser({ file: name, latest: earliest + ERA - DAY });
}
