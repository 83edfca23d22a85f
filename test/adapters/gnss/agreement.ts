/** Compares fixes with the TPV reports of gpsd for the same recording (its `.chk` files). */
import { readFileSync } from 'node:fs';
import type { Fix } from '../../../adapters/gnss/index.ts';

interface Tpv {
  readonly class: string;
  readonly mode: number;
  readonly time?: string;
  readonly lat?: number;
  readonly lon?: number;
  readonly altMSL?: number;
  readonly speed?: number;
  readonly track?: number;
}

export interface Exception {
  /** 1-based line of the `.chk` file. */
  readonly line: number;
  readonly what: string;
  /** True if gpsd reported the same time again later, after more of its sentences. */
  readonly partial: boolean;
}

export interface Agreement {
  readonly reports: number;
  /** Number of reports whose quantities all equal those of a fix, to the last digit that gpsd prints. */
  readonly agreeing: number;
  readonly exceptions: readonly Exception[];
}

/** Decimals of gpsd's degrees. */
const degreeDigits = 9;
/** Half of the last digit printed by gpsd. */
const half = { metres: 0.5e-4, metresPerSecond: 0.5e-3, track: 0.5e-4 };
/** Margin for binary rounding. */
const slack = 1.02;

/**
 * Compares a report with a time with the fix of that time, and a report without one (no fix, or an unknown date) with
 * the fixes between the neighbouring reports that have a time.
 */
export function compare(chk: string, fixes: readonly Fix[]): Agreement {
  const reports = readFileSync(chk, 'latin1')
    .split('\n')
    .flatMap((text, index) =>
      text.startsWith('{"class":"TPV"') ? [{ line: index + 1, tpv: JSON.parse(text) as Tpv }] : [],
    );
  const exceptions: Exception[] = [];
  let from = 0;
  for (const [index, { line, tpv }] of reports.entries()) {
    const what = disagreement(tpv, candidates(tpv, index));
    const following = reports[index + 1]?.tpv;
    const partial = following !== undefined && (tpv.time === undefined || following.time === tpv.time);
    if (what !== undefined) exceptions.push({ line, what, partial });
  }
  return { reports: reports.length, agreeing: reports.length - exceptions.length, exceptions };

  function candidates({ time }: Tpv, index: number): readonly Fix[] {
    if (time !== undefined) {
      const t = Date.parse(time);
      const at = fixes.findIndex((fix, i) => i >= from && fix.t === t);
      if (at >= 0) from = at;
      return fixes.filter((fix) => fix.t === t);
    }
    const next = reports.slice(index).find(({ tpv }) => tpv.time !== undefined)?.tpv.time;
    const until = next === undefined ? -1 : fixes.findIndex((fix, i) => i >= from && fix.t === Date.parse(next));
    return fixes.slice(from, until < 0 ? fixes.length : until + 1);
  }
}

function disagreement(tpv: Tpv, fixes: readonly Fix[]): string | undefined {
  if (fixes.length === 0) return `no fix of ${tpv.time ?? 'this moment'}`;
  const faults = fixes.map((fix) => differences(tpv, fix));
  const best = faults.reduce((least, some) => (some.length < least.length ? some : least));
  return best.length === 0 ? undefined : best.join(', ');
}

function differences(tpv: Tpv, fix: Fix): string[] {
  const found: string[] = [];
  const near = (name: string, theirs: number | undefined, ours: number | undefined, tolerance: number): void => {
    if (theirs === undefined) return;
    if (ours === undefined) found.push(`${name} ${theirs} is missing`);
    else if (Math.abs(theirs - ours) > tolerance * slack) found.push(`${name} ${theirs} is ${ours}`);
  };
  const printed = (name: string, theirs: number | undefined, ours: number | undefined): void => {
    if (theirs !== undefined && ours?.toFixed(degreeDigits) !== theirs.toFixed(degreeDigits)) {
      found.push(`${name} ${theirs} is ${ours}`);
    }
  };
  const kind = tpv.mode === 3 ? '3D' : tpv.mode === 2 ? '2D' : 'none';
  if (kind !== fix.fix) found.push(`fix ${kind} is ${fix.fix}`);
  if (kind === 'none') return found;
  printed('lat', tpv.lat, fix.latitude);
  printed('lon', tpv.lon, fix.longitude);
  near('altMSL', tpv.altMSL, fix.altitude, half.metres);
  near('speed', tpv.speed, fix.speed === undefined ? undefined : fix.speed / 3.6, half.metresPerSecond);
  near('track', tpv.track, fix.heading, half.track);
  return found;
}
