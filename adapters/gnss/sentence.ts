/**
 * NMEA 0183 sentences (IEC 61162-1): `$ttsss,field,…*hh`, where tt is the talker, sss the sentence and hh the
 * exclusive or of the characters between `$` and `*`. The checksum is optional in older versions of the standard.
 */

import { midnight as beginningOf } from '../../protocol/calendar.ts';
import { hexByte } from '../../protocol/hex.ts';

export interface Sentence {
  /** GP, GL, GA, GB, BD, GQ, QZ, GI, GN, or another talker. */
  readonly talker: string;
  /** GGA, RMC, … */
  readonly kind: string;
  /** Fields after the address: `fields[0]` is the first. */
  readonly fields: readonly string[];
}

/** Returns a sentence, its fault, or undefined for a proprietary one. */
export function readSentence(text: string): Sentence | { readonly fault: string } | undefined {
  const star = text.lastIndexOf('*');
  const content = star < 0 ? text.slice(1) : text.slice(1, star);
  if (star >= 0) {
    const said = Number.parseInt(text.slice(star + 1), 16);
    const computed = checksum(content);
    if (said !== computed) {
      return { fault: `the checksum is ${hexByte(said)}, but the sentence gives ${hexByte(computed)}` };
    }
  }
  const fields = content.split(',');
  const address = fields.shift() as string;
  if (address.length !== 5 || address.startsWith('P')) return undefined;
  return { talker: address.slice(0, 2), kind: address.slice(2), fields };
}

function checksum(content: string): number {
  let sum = 0;
  for (let i = 0; i < content.length; i++) sum ^= content.charCodeAt(i);
  return sum;
}

/** A field that is present but invalid. */
export class FieldFault extends Error {}

/** Returns a number from `least` to `most`, or undefined for an empty field. Throws {@link FieldFault}. */
export function numberOf(field: string | undefined, name: string, least: number, most: number): number | undefined {
  const text = field?.trim();
  if (text === undefined || text === '') return undefined;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) throw new FieldFault(`${name} is not a number: ${field}`);
  const value = Number(text);
  if (value < least || value > most) throw new FieldFault(`${name} is not from ${least} to ${most}: ${field}`);
  return value;
}

/** Returns the ms since midnight of hhmmss.s…, or undefined for an empty field. Throws {@link FieldFault}. */
export function timeOf(field: string | undefined): number | undefined {
  if (field === undefined || field === '') return undefined;
  const parts = /^(\d\d)(\d\d)(\d\d)(\.\d*)?$/.exec(field);
  if (parts !== null) {
    const [hour, minute, second] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
    // In a leap second, the second is 60.
    if (hour < 24 && minute < 60 && second <= 60) {
      const fraction = Math.round(Number(`0${parts[4] ?? ''}`) * 1000);
      return (hour * 3600 + minute * 60 + second) * 1000 + fraction;
    }
  }
  throw new FieldFault(`the time is not hhmmss.ss: ${field}`);
}

/** First two-digit year, 1980, when GPS time began; the last is 2079. */
const firstYear = 80;

/** Returns midnight of ddmmyy in UTC ms, or undefined for an empty field. Throws {@link FieldFault}. */
export function dateOf(field: string | undefined): number | undefined {
  if (field === undefined || field === '') return undefined;
  const parts = /^(\d\d)(\d\d)(\d\d)$/.exec(field);
  if (parts !== null) {
    const year = Number(parts[3]);
    const at = midnight(year < firstYear ? 2000 + year : 1900 + year, Number(parts[2]), Number(parts[1]));
    if (at !== undefined) return at;
  }
  throw new FieldFault(`the date is not ddmmyy: ${field}`);
}

/** Returns midnight in UTC ms, or undefined for an invalid date. */
export function midnight(year: number, month: number, day: number): number | undefined {
  return year >= 1980 && year < 10_000 ? beginningOf(year, month, day) : undefined;
}

/**
 * Returns the degrees of (d)ddmm.mmm and its hemisphere, or undefined if one of the two is empty. Throws
 * {@link FieldFault}.
 * @param hemispheres the positive letter, then the negative one
 */
export function degreesOf(
  field: string | undefined,
  hemisphere: string | undefined,
  hemispheres: 'NS' | 'EW',
): number | undefined {
  const name = hemispheres === 'NS' ? 'the latitude' : 'the longitude';
  const value = numberOf(field, name, 0, 18_000);
  if (value === undefined || hemisphere === undefined || hemisphere === '') return undefined;
  const whole = Math.trunc(value);
  const degrees = Math.floor(whole / 100);
  const minutes = whole - degrees * 100;
  // Use the written digits, since subtracting from `value` would lose some; and one sum and product in this order, like
  // gpsd, so that both round alike if a receiver sends more digits than gpsd prints.
  const result = (degrees * 60 + minutes + Number(`0.${(field as string).split('.')[1] ?? ''}`)) * (1 / 60);
  const sign = hemispheres.indexOf(hemisphere);
  if (sign < 0 || hemisphere.length !== 1)
    throw new FieldFault(`${name} has no hemisphere ${hemispheres}: ${hemisphere}`);
  if (minutes >= 60 || result > (hemispheres === 'NS' ? 90 : 180)) {
    throw new FieldFault(`${name} is not degrees and minutes: ${field}`);
  }
  return sign === 0 ? result : -result;
}
