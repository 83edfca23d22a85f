/**
 * Parses fixes in gpsd's JSON protocol (gpsd_json(5)): each line `{"class":"TPV",…}` contains position and time, `SKY`
 * the satellites. gpsd reports the same time repeatedly while it does not know where a receiver's epoch ends: these
 * reports form one fix.
 */
import { type Fix, type FixKind, rounded } from './fix.ts';
import { FramedParser } from './framed-parser.ts';
import type { RecordSink } from './framing.ts';

/** Range of a Date in ms (ECMA-262 §21.4.1.1). */
const farthest = 8.64e15;

type Report = Readonly<Record<string, unknown>>;

export class GpsdParser extends FramedParser {
  /** Report that becomes a fix when a report with another time arrives. */
  private held: Report | undefined;
  private satellites: number | undefined;
  /** Number of gpsd's receivers in its last report; undefined before a report. */
  devices: number | undefined;

  /** @param file file, or address of gpsd, named in diagnostics */
  constructor({ file }: { readonly file: string }) {
    super(file);
  }

  protected override sink(): Omit<RecordSink, 'fault'> {
    return { json: (text, line) => this.report(text, line) };
  }

  protected override settleHeld(): void {
    if (this.held !== undefined) this.give(fixOf(this.held, this.satellites));
    this.held = undefined;
  }

  private report(text: string, line: number): void {
    const report = read(text);
    if (report === undefined) {
      this.faults.add(line, 'the line is not a JSON object');
      return;
    }
    this.records++;
    const { class: kind, devices } = report;
    if (kind === 'TPV') this.tpv(report);
    else if (kind === 'SKY') this.satellites = satellitesOf(report) ?? this.satellites;
    else if (kind === 'DEVICES' && Array.isArray(devices)) this.devices = devices.length;
    else if (kind === 'DEVICE') this.devices = Math.max(1, this.devices ?? 1);
    else if (kind === 'ERROR') this.faults.add(line, `gpsd says: ${String(report['message'])}`);
  }

  private tpv(report: Report): void {
    const { held } = this;
    const time = report['time'];
    const same = time !== undefined && held?.['time'] === time && held['device'] === report['device'];
    if (held !== undefined && !same) this.give(fixOf(held, this.satellites));
    this.held = report;
  }
}

function read(text: string): Report | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Report) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fixOf(report: Report, satellites: number | undefined): Fix {
  const latitude = numberOf(report['lat'], 90);
  const longitude = numberOf(report['lon'], 180);
  const mode = latitude === undefined || longitude === undefined ? 0 : numberOf(report['mode']);
  const kind: FixKind = mode === 3 ? '3D' : mode === 2 ? '2D' : 'none';
  const t = timeOf(report['time']);
  const fix: { -readonly [member in keyof Fix]: Fix[member] } = { fix: kind };
  if (t !== undefined) fix.t = t;
  if (satellites !== undefined) fix.satellites = satellites;
  if (latitude === undefined || longitude === undefined || kind === 'none') return fix;
  fix.latitude = latitude;
  fix.longitude = longitude;
  // Versions before 3.20 have only `alt`, above mean sea level for most receivers.
  const altitude = numberOf(report['altMSL']) ?? numberOf(report['alt']);
  const speed = numberOf(report['speed']);
  const heading = numberOf(report['track']);
  if (altitude !== undefined) fix.altitude = altitude;
  if (speed !== undefined) fix.speed = rounded(speed * 3.6, 6);
  if (heading !== undefined) fix.heading = heading;
  return fix;
}

/** Returns `uSat` since 3.22; earlier versions have a list with a mark on each satellite. */
function satellitesOf(report: Report): number | undefined {
  const used = numberOf(report['uSat']);
  const list = report['satellites'];
  if (used !== undefined || !Array.isArray(list)) return used;
  return list.filter((entry: unknown) => isReport(entry) && entry['used'] === true).length;
}

function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null;
}

function numberOf(value: unknown, most = Number.MAX_VALUE): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= most ? value : undefined;
}

/** Parses ISO 8601 since 2.96, and seconds since 1970 before that. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? Math.round(value * 1000) : Date.parse(String(value));
  return Math.abs(at) <= farthest ? at : undefined;
}
