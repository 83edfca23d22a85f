/** Fixes out of what a receiver sends: NMEA 0183, or SiRF binary. */
import { EpochMerger } from './epoch.ts';
import { FramedParser } from './framed-parser.ts';
import type { RecordSink } from './framing.ts';
import { readSentence } from './sentence.ts';
import { readSirf } from './sirf.ts';

export interface NmeaOptions {
  /** What diagnostics name: a file or a device. */
  readonly file: string;
  /**
   * UTC milliseconds after which the receiver cannot have spoken: the present, unless the recording's header names its
   * day. Only for binary protocols that count weeks modulo 1024; NMEA is taken as it says.
   */
  readonly latest: number;
}

/** Header of gpsd's test logs: the day of the recording. */
const recorded = /^#\s*Date\s*[:=]\s*(\d{4}-\d\d-\d\d)/;
const day = 86_400_000;

export class NmeaParser extends FramedParser {
  private readonly merger: EpochMerger;
  private latest: number;

  constructor({ file, latest }: NmeaOptions) {
    super(file);
    this.latest = latest;
    this.merger = new EpochMerger((fix) => this.give(fix));
  }

  protected override sink(): Omit<RecordSink, 'fault'> {
    return {
      sentence: (text, line) => this.sentence(text, line),
      comment: (text) => this.comment(text),
      sirf: (payload) => this.sirf(payload),
    };
  }

  protected override settleHeld(): void {
    this.merger.settle();
  }

  private sentence(text: string, line: number): void {
    const sentence = readSentence(text);
    if (sentence === undefined || !('fault' in sentence)) this.records++;
    if (sentence === undefined) return;
    const fault = 'fault' in sentence ? sentence.fault : this.merger.take(sentence);
    if (fault !== undefined) this.faults.add(line, fault);
  }

  private comment(text: string): void {
    const at = Date.parse(recorded.exec(text)?.[1] ?? '');
    if (!Number.isNaN(at)) this.latest = at + 2 * day;
  }

  private sirf(payload: Uint8Array): void {
    this.records++;
    const fix = readSirf(payload, this.latest);
    if (fix !== undefined) this.give(fix);
  }
}
