/**
 * Merges the sentences of one epoch, the time of a measurement of the receiver, into one fix. GGA, GNS, RMC and GLL
 * contain the time of the epoch; a sentence with another time begins the next. VTG and GSA have no time: they belong to
 * the current epoch. If several sentences contain a value, the last one counts.
 */
import { DAY } from '../../protocol/calendar.ts';
import { type Fix, type FixKind, rounded } from './fix.ts';
import { dateOf, degreesOf, FieldFault, midnight, numberOf, type Sentence, timeOf } from './sentence.ts';

/**
 * Largest difference in ms between times that count as equal: some sentences of a receiver have more digits than
 * others.
 */
const sameMoment = 10;
/** One knot in km/h. */
const knot = 1.852;
/** Largest count of satellites in GGA in older versions of the standard. */
const ggaLimit = 12;

/** Upper limit of satellites: all systems together have fewer. */
const satellitesMost = 256;

/** Sentences that contain a position, with the number of fields that they need for it. */
const positional: Readonly<Record<string, number>> = { GGA: 9, GNS: 9, RMC: 9, GLL: 6 };

class Epoch {
  /** Time in ms since midnight. */
  time: number | undefined;
  /** Midnight in UTC ms. */
  date: number | undefined;
  /** Validity in the last sentence that contains it. */
  valid = false;
  latitude: number | undefined;
  longitude: number | undefined;
  altitude: number | undefined;
  speed: number | undefined;
  heading: number | undefined;
  satellites: number | undefined;
  /** Dimension from GSA: 1 is no fix, 2 is 2D, 3 is 3D. */
  dimension: number | undefined;
  /** Satellites in GSA, by system and number. */
  readonly used = new Set<string>();
  /** Talkers and kinds of the positional sentences so far. */
  readonly sentences = new Set<string>();
}

export class EpochMerger {
  private readonly give: (fix: Fix) => void;
  private epoch = new Epoch();
  /** A time in UTC ms with a known date. */
  private anchor: number | undefined;
  /** Last dimension from GSA, until the fix is lost: not every receiver sends GSA in every epoch. */
  private dimension: number | undefined;
  /** True if the current epoch was already emitted. */
  private given = false;
  private readonly kinds: ReadonlyMap<string, (sentence: Sentence) => void> = new Map([
    ['GGA', (sentence) => this.gga(sentence)],
    ['GNS', (sentence) => this.gns(sentence)],
    ['RMC', (sentence) => this.rmc(sentence)],
    ['GLL', (sentence) => this.gll(sentence)],
    ['VTG', (sentence) => this.vtg(sentence)],
    ['GSA', (sentence) => this.gsa(sentence)],
    ['ZDA', (sentence) => this.zda(sentence)],
  ]);

  constructor(give: (fix: Fix) => void) {
    this.give = give;
  }

  /**
   * @returns the fault of the sentence, which is then ignored, except for a position whose date is invalid.
   * Skips other kinds of sentences.
   */
  take(sentence: Sentence): string | undefined {
    try {
      this.kinds.get(sentence.kind)?.(sentence);
    } catch (error) {
      if (error instanceof FieldFault) return `${sentence.talker}${sentence.kind}: ${error.message}`;
      throw error;
    }
    return undefined;
  }

  /** Emits the fix of the epoch, unless it was already emitted. */
  settle(): void {
    if (this.given || this.epoch.sentences.size === 0) return;
    this.given = true;
    this.give(this.fix());
  }

  /** Begins the next epoch if the sentence cannot belong to this one. Throws before it changes anything. */
  private enter(sentence: Sentence, time: number | undefined): Epoch {
    const { kind, talker, fields } = sentence;
    const least = positional[kind] as number;
    if (fields.length < least) throw new FieldFault(`${fields.length} fields are too few, ${least} are needed`);
    const { sentences, time: current } = this.epoch;
    const key = talker + kind;
    const moved = time !== undefined && current !== undefined && Math.abs(time - current) > sameMoment;
    // GLL may occur several times in one epoch. A receiver without time separates its epochs by repeating a sentence.
    const again = sentences.has(key) && (kind !== 'GLL' || time === undefined);
    if (moved || again) this.next();
    const { epoch } = this;
    epoch.sentences.add(key);
    epoch.time = time ?? epoch.time;
    this.given = false;
    return epoch;
  }

  private next(): void {
    this.settle();
    this.epoch = new Epoch();
    this.given = false;
  }

  /** Returns the epoch of a sentence without time: the current one, or the next if the current one was emitted. */
  private current(): Epoch {
    if (this.given) this.next();
    return this.epoch;
  }

  private gga(sentence: Sentence): void {
    const [time, latitude, ns, longitude, ew, quality, satellites, , altitude] = sentence.fields;
    const at = timeOf(time);
    const position = positionOf(latitude, ns, longitude, ew);
    const metres = heightOf(altitude);
    const used = countOf(satellites);
    const epoch = this.enter(sentence, at);
    if (used !== undefined) epoch.satellites = Math.max(epoch.satellites ?? 0, used);
    this.place(epoch, quality !== '' && quality !== '0', position);
    if (metres !== undefined) epoch.altitude = metres;
  }

  private gns(sentence: Sentence): void {
    const [time, latitude, ns, longitude, ew, mode = '', satellites, , altitude] = sentence.fields;
    const at = timeOf(time);
    const position = positionOf(latitude, ns, longitude, ew);
    const metres = heightOf(altitude);
    const used = countOf(satellites);
    const epoch = this.enter(sentence, at);
    if (used !== undefined) epoch.satellites = used;
    // One letter per system; N: this system has no fix.
    this.place(epoch, /[^N]/.test(mode), position);
    if (metres !== undefined) epoch.altitude = metres;
  }

  private rmc(sentence: Sentence): void {
    const [time, status, latitude, ns, longitude, ew, knots, course, date] = sentence.fields;
    const valid = status === 'A';
    const at = timeOf(time);
    const position = positionOf(latitude, ns, longitude, ew);
    const speed = speedOf(knots);
    const heading = courseOf(course);
    const epoch = this.enter(sentence, at);
    this.place(epoch, valid, position);
    if (speed !== undefined) epoch.speed = speed * knot;
    if (heading !== undefined) epoch.heading = heading;
    // Without a fix, receivers send arbitrary dates.
    if (valid) epoch.date = dateOf(date) ?? epoch.date;
  }

  private gll(sentence: Sentence): void {
    const [latitude, ns, longitude, ew, time, status, mode] = sentence.fields;
    const position = positionOf(latitude, ns, longitude, ew);
    this.place(this.enter(sentence, timeOf(time)), status === 'A' && mode !== 'N', position);
  }

  private place(epoch: Epoch, valid: boolean, position: readonly [number, number] | undefined): void {
    epoch.valid = valid && position !== undefined;
    if (epoch.valid && position !== undefined) [epoch.latitude, epoch.longitude] = position;
  }

  private vtg({ fields }: Sentence): void {
    const [course, , , , knots, , kilometres, , mode] = fields;
    // Without letters of units: the format before version 2, course true, magnetic, knots, km/h.
    const old = fields.length < 8 && fields[1] !== 'T';
    const heading = courseOf(course);
    const speed = speedOf(old ? fields[2] : knots);
    const kmh = speedOf(old ? fields[3] : kilometres);
    if (mode === 'N') return;
    const epoch = this.current();
    if (heading !== undefined) epoch.heading = heading;
    const value = speed === undefined ? kmh : speed * knot;
    if (value !== undefined) epoch.speed = value;
  }

  private gsa({ talker, fields }: Sentence): void {
    const epoch = this.current();
    const dimension = Number(fields[1]);
    if (dimension === 1 || dimension === 2 || dimension === 3) {
      // One GSA per system: a system without satellites does not invalidate the fix of the others.
      epoch.dimension = Math.max(epoch.dimension ?? 1, dimension);
    }
    // Twelve satellites and three dilutions follow; version 4.10 adds the system, which otherwise is the talker's.
    const system = fields.length > 17 ? fields[17] : talker;
    for (const satellite of fields.slice(2, 14)) {
      if (satellite !== '' && epoch.used.size < satellitesMost)
        epoch.used.add(`${talker === 'GN' ? system : talker}${satellite}`);
    }
  }

  /** ZDA contains the date. Its time may be that of the next second pulse, so it does not begin an epoch. */
  private zda({ fields }: Sentence): void {
    const [time, ...rest] = fields;
    const [dayOfMonth, month, year] = rest.map((field) => (/^\d+$/.test(field) ? Number(field) : undefined));
    const at = timeOf(time);
    if (at === undefined || dayOfMonth === undefined || month === undefined || year === undefined) return;
    const start = midnight(year, month, dayOfMonth);
    if (start === undefined) throw new FieldFault(`there is no such date: ${rest.slice(0, 3).join()}`);
    this.anchor = start + at;
  }

  private fix(): Fix {
    const { epoch } = this;
    const kind = this.kind(epoch);
    const t = this.instant(epoch);
    if (t !== undefined) this.anchor = t;
    const satellites = satellitesOf(epoch);
    const fix: { -readonly [member in keyof Fix]: Fix[member] } = { fix: kind };
    if (t !== undefined) fix.t = t;
    if (satellites !== undefined) fix.satellites = satellites;
    if (kind === 'none') return fix;
    fix.latitude = epoch.latitude as number;
    fix.longitude = epoch.longitude as number;
    if (epoch.altitude !== undefined) fix.altitude = epoch.altitude;
    if (epoch.speed !== undefined) fix.speed = rounded(epoch.speed, 6);
    if (epoch.heading !== undefined) fix.heading = epoch.heading;
    return fix;
  }

  /** Returns the kind of the fix from GSA. Without GSA, an altitude from at least four satellites means a 3D fix. */
  private kind(epoch: Epoch): FixKind {
    if (epoch.dimension !== undefined) this.dimension = epoch.dimension;
    if (!epoch.valid || epoch.dimension === 1) {
      this.dimension = undefined;
      return 'none';
    }
    if (this.dimension !== undefined && this.dimension > 1) return this.dimension === 3 ? '3D' : '2D';
    return epoch.altitude !== undefined && (satellitesOf(epoch) ?? 0) >= 4 ? '3D' : '2D';
  }

  /** Returns the time of an epoch. Without a date, uses the day on which it is nearest to the last known time. */
  private instant({ time, date }: Epoch): number | undefined {
    if (time === undefined) return undefined;
    if (date !== undefined) return date + time;
    const { anchor } = this;
    if (anchor === undefined) return undefined;
    const at = Math.floor(anchor / DAY) * DAY + time;
    if (at - anchor > DAY / 2) return at - DAY;
    return anchor - at > DAY / 2 ? at + DAY : at;
  }
}

/** Limits above those of exported receivers (18 km, 1000 knots) and far above those of any car. */
const heightOf = (field: string | undefined) => numberOf(field, 'the altitude', -20_000, 100_000);
const speedOf = (field: string | undefined) => numberOf(field, 'the speed', 0, 100_000);
const courseOf = (field: string | undefined) => numberOf(field, 'the course', 0, 360);
const countOf = (field: string | undefined) => numberOf(field, 'the number of satellites', 0, satellitesMost);

function positionOf(
  latitude: string | undefined,
  ns: string | undefined,
  longitude: string | undefined,
  ew: string | undefined,
): readonly [number, number] | undefined {
  const north = degreesOf(latitude, ns, 'NS');
  const east = degreesOf(longitude, ew, 'EW');
  return north === undefined || east === undefined ? undefined : [north, east];
}

function satellitesOf({ satellites, used }: Epoch): number | undefined {
  if (satellites === undefined) return used.size === 0 ? undefined : used.size;
  return satellites >= ggaLimit ? Math.max(satellites, used.size) : satellites;
}
