import { type Fix, type FixReader, isFixRecording, openFixLog, ubxPositions } from '../adapters/gnss/index.ts';
import { counted } from '../protocol/counted.ts';
import { complain, type Format, type Lines, progressBar } from './output.ts';

/**
 * True for a recording of a receiver or of gpsd, by its content, gzip included; never for standard
 * input, which cannot be read twice. Throws `input.unreadable`.
 */
export async function isFixLog(path: string): Promise<boolean> {
  return path !== '-' && (await isFixRecording(path));
}

/**
 * Prints a line per fix, and resolves with their number: {t, latitude, longitude, altitude, speed, heading, fix, satellites}; `t` in UTC milliseconds,
 * degrees, metres above mean sea level, km/h. What the receiver does not give is absent.
 * Throws `input.unreadable`, `input.malformed`.
 */
export async function decodeFixes(path: string, format: Format, lines: Lines): Promise<number> {
  const log = await openFixLog(path, Date.now());
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
    log.close();
  }
  if (count === 0) process.stderr.write(`vigie: ${path}: the log has no fix${insteadOf(log)}\n`);
  if (log.unproven > 0) {
    const why = 'nothing says whether they are valid, as NAV-SOL, NAV-STATUS or NAV-PVT would';
    process.stderr.write(`${path}: ${counted(log.unproven, 'position was', 'positions were')} left out: ${why}\n`);
  }
  if (log.faults.count > 0) {
    complain(log.faults.first);
    process.stderr.write(
      `${path}: ${counted(log.faults.count, 'broken sentence or message was', 'broken sentences or messages were')} left out\n`,
    );
  }
  return count;
}

/** Kinds of messages that are named. */
const NAMED = 6;

/** What a recording without a fix has, for people. */
function insteadOf({ others }: FixReader): string {
  if (others.size === 0) return '';
  const kinds = [...others].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} (${count} times)`);
  const more = kinds.length > NAMED ? ` and ${counted(kinds.length - NAMED, 'other kind')}` : '';
  return `: it has ${kinds.slice(0, NAMED).join(', ')}${more}; a fix is in ${ubxPositions}, in sentences, and in SiRF message 2`;
}

function ndjson(fix: Fix): string {
  const { t, latitude, longitude, altitude, speed, heading, satellites } = fix;
  return JSON.stringify({
    t,
    // Tenths of a millimetre, ten-thousandths of a km/h: finer than receivers write.
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
