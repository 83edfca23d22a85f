/**
 * A second, naive implementation of fields in answers, as OBDb describes its signal sets (`signalsets/v3`): the data as
 * a text of ones and zeros. Independent of the adapters.
 */

export interface NaiveFormat {
  readonly bix?: number;
  readonly len: number;
  readonly blsb?: boolean;
  readonly sign?: boolean;
  readonly mul?: number;
  readonly div?: number;
  readonly add?: number;
  readonly min?: number;
  readonly max?: number;
  readonly nullmin?: number;
  readonly nullmax?: number;
  readonly unit?: string;
  readonly map?: Readonly<Record<string, string | { readonly value: string }>>;
}

export interface NaiveCommand {
  readonly hdr: string;
  readonly rax?: string;
  readonly eax?: string;
  readonly cmd: Readonly<Record<string, string>>;
  readonly filter?: { readonly from?: number; readonly to?: number; readonly years?: readonly number[] };
  readonly signals: readonly { readonly id: string; readonly fmt: NaiveFormat }[];
}

export function commandsOf(json: string): readonly NaiveCommand[] {
  return (JSON.parse(json) as { commands: readonly NaiveCommand[] }).commands;
}

/** Number of bytes that the signals of a command need. */
export function lengthOf({ signals }: NaiveCommand): number {
  return Math.max(...signals.map(({ fmt: { bix = 0, len } }) => Math.ceil((bix + len) / 8)));
}

/** The value of a field: a number, a text, or an integer beyond 2^53 as text; null if there is no value. */
export function naiveField(fmt: NaiveFormat, data: readonly number[]): number | string | null {
  const { bix = 0, len, blsb, sign, mul = 1, div = 1, add = 0, max, nullmin, nullmax, unit, map } = fmt;
  const bits = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  if (blsb && (bix % 8 !== 0 || len % 8 !== 0)) throw new Error('bytes are put in order whole');
  const ordered = blsb ? data.slice(bix / 8, (bix + len) / 8).reverse() : data;
  const field = blsb ? bits(ordered) : bits(ordered).slice(bix, bix + len);
  if (field.length < len) return null;
  if (unit === 'ascii') {
    const codes = (field.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2));
    return codes
      .filter((code) => code !== 0x00 && code !== 0xff)
      .map((code) => (code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : '.'))
      .join('')
      .trim();
  }
  const unsigned = BigInt(`0b${field}`);
  const raw = sign && field.startsWith('1') ? unsigned - 2n ** BigInt(len) : unsigned;
  if (map !== undefined) {
    const entry = map[raw.toString()];
    return entry === undefined ? Number(raw) : typeof entry === 'string' ? entry : entry.value;
  }
  const value = (Number(raw) * mul) / div + add;
  if (nullmin !== undefined && value <= nullmin) return null;
  if (nullmax !== undefined && value >= nullmax) return null;
  // If min is omitted, it is 0, but only if there is a max.
  const min = fmt.min ?? (max === undefined ? undefined : 0);
  if (min !== undefined && value < min) return min;
  if (max !== undefined && value > max) return max;
  const plain = mul === 1 && div === 1 && add === 0;
  return plain && !Number.isSafeInteger(value) ? raw.toString() : value;
}
