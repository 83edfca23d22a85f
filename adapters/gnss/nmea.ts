/**
 * Parses fixes in the data of a receiver: NMEA 0183, SiRF binary, UBX. If sentences and UBX report the same time, they
 * form one fix, that of UBX: UBX reports the validity of the position more exactly.
 */
import { DAY } from '../../protocol/calendar.ts';
import { EpochMerger } from './epoch.ts';
import type { Fix } from './fix.ts';
import { FramedParser } from './framed-parser.ts';
import type { RecordSink } from './framing.ts';
import { readSentence } from './sentence.ts';
import { readSirf } from './sirf.ts';
import { nameOfUbx, UbxEpochs } from './ubx.ts';

interface NmeaOptions {
  /** File or device, for diagnostics. */
  readonly file: string;
  /**
   * Latest possible time of the data in UTC ms: the present, unless the recording's header contains its day. Only for
   * binary protocols that count weeks modulo 1024; NMEA dates are used unchanged.
   */
  readonly latest: number;
}

/** Header of gpsd's test logs, with the day of the recording. */
const recorded = /^#\s*Date\s*[:=]\s*(\d{4}-\d\d-\d\d)/;
/**
 * Largest difference in ms between times that count as equal: sentences may have two digits of a second, UBX
 * nanoseconds.
 */
const sameMoment = 10;
/** Sentences that are further behind UBX than this, in ms, mean that the receiver was restarted. */
const longBefore = 10_000;

export class NmeaParser extends FramedParser {
  private readonly merger: EpochMerger;
  private readonly ubx: UbxEpochs;
  private latest: number;
  /** Time of the last UBX message. */
  private moment: number | undefined;
  /** True if UBX arrived since the last fix of the other protocol. */
  private ubxCame = false;
  private sentencesCame = false;

  constructor({ file, latest }: NmeaOptions) {
    super(file);
    this.latest = latest;
    this.merger = new EpochMerger((fix) => this.sentenceFix(fix));
    this.ubx = new UbxEpochs((fix) => this.ubxFix(fix));
  }

  override get unproven(): number {
    return this.ubx.unproven;
  }

  protected override sink(): Omit<RecordSink, 'fault'> {
    return {
      sentence: (text, line) => this.sentence(text, line),
      comment: (text) => this.comment(text),
      sirf: (payload) => this.sirf(payload),
      ubx: (message, payload, at) => this.ubxMessage(message, payload, at),
    };
  }

  protected override settleHeld(): void {
    // Fixes with a time take precedence; the same fix without a time is ignored.
    if (this.ubx.moment === undefined) this.merger.settle();
    this.ubx.settle();
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
    if (!Number.isNaN(at)) this.latest = at + 2 * DAY;
  }

  private sirf(payload: Uint8Array): void {
    this.records++;
    const fix = readSirf(payload, this.latest);
    if (fix !== undefined) this.give(fix);
    else this.countOther(`SiRF message ${payload[0]}`);
  }

  private ubxMessage(message: number, payload: Uint8Array, at: number): void {
    const fault = this.ubx.take(message, payload);
    if (fault !== undefined) this.faults.add(0, `byte ${at}: ${fault}`);
    else this.records++;
    if (!this.ubx.knows(message)) this.countOther(`UBX ${nameOfUbx(message)}`);
  }

  private ubxFix(fix: Fix): void {
    const doubled = fix.t === undefined && this.sentencesCame;
    this.sentencesCame = false;
    if (doubled) return;
    this.ubxCame = true;
    this.moment = fix.t ?? this.moment;
    this.give(fix);
  }

  private sentenceFix(fix: Fix): void {
    const { t } = fix;
    if (t !== undefined && isSame(t, this.ubx.moment)) this.ubx.settle();
    const { moment, ubxCame } = this;
    this.ubxCame = false;
    const doubled =
      t === undefined
        ? ubxCame
        : moment !== undefined && (isSame(t, moment) || (t < moment && moment - t < longBefore));
    if (doubled) return;
    this.sentencesCame = t !== undefined && fix.fix !== 'none';
    this.give(fix);
  }
}

function isSame(t: number, moment: number | undefined): boolean {
  return moment !== undefined && Math.abs(t - moment) <= sameMoment;
}
