import type { Fix } from '../adapters/gnss/index.ts';
import { counted } from '../protocol/counted.ts';
import { fixLogsIn, reportFixes } from './fix-logs.ts';
import { type Format, type Lines, progressBar } from './output.ts';

/**
 * Prints one line per fix: {t, latitude, longitude, altitude, speed, heading, fix, satellites}. Resolves with the
 * number of fixes. `t` is in UTC milliseconds, angles are in degrees, `altitude` in metres above mean sea level,
 * `speed` in km/h. Omits values that the receiver did not report. Throws `input.unreadable`, `input.malformed`.
 */
export async function decodeFixes(path: string, format: Format, lines: Lines): Promise<number> {
  let total = 0;
  for await (const { name, log } of fixLogsIn(path)) {
    const bar = await progressBar(log.size);
    let count = 0;
    try {
      for await (const fixes of log.fixes()) {
        for (const fix of fixes) {
          lines.line(format === 'ndjson' ? ndjson(fix) : text(fix));
          if (lines.full) await lines.flush();
        }
        count += fixes.length;
        bar.update(log.position, count);
      }
    } finally {
      bar.stop();
    }
    reportFixes(log, name, count);
    total += count;
  }
  return total;
}

function ndjson(fix: Fix): string {
  const { t, latitude, longitude, altitude, speed, heading, satellites } = fix;
  return JSON.stringify({
    t,
    // Resolution of 0.1 mm and 0.0001 km/h: finer than what receivers report.
    latitude: rounded(latitude, 1e9),
    longitude: rounded(longitude, 1e9),
    altitude: rounded(altitude, 1e4),
    speed: rounded(speed, 1e4),
    heading: rounded(heading, 1e4),
    fix: fix.fix,
    satellites,
  });
}

function rounded(value: number | undefined, scale: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * scale) / scale;
}

function text(fix: Fix): string {
  const { t, latitude, longitude, altitude, speed, heading, satellites } = fix;
  const parts = [t === undefined ? 'date unknown' : new Date(t).toISOString(), fix.fix === 'none' ? 'no fix' : fix.fix];
  if (latitude !== undefined && longitude !== undefined) parts.push(`${latitude.toFixed(7)} ${longitude.toFixed(7)}`);
  if (altitude !== undefined) parts.push(`${altitude.toFixed(1)} m`);
  if (speed !== undefined) parts.push(`${speed.toFixed(1)} km/h`);
  if (heading !== undefined) parts.push(`${heading.toFixed(1)}°`);
  if (satellites !== undefined) parts.push(`${counted(satellites, 'satellite')}`);
  return parts.join(' ');
}
