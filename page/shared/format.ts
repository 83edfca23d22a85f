/** Formats values, ages and names for people. Numbers use the reader's language. */

const units: Readonly<Record<string, string>> = {
  degC: '°C',
  deg: '°',
  'L/100km': 'L/100 km',
  'kWh/100km': 'kWh/100 km',
  'm/s2': 'm/s²',
};
/** Finest useful steps by unit, even if the interface has finer ones. */
const steps: Readonly<Record<string, number>> = { rpm: 1, 'm/s²': 0.01 };
const formats = new Map<number | undefined, Intl.NumberFormat>();

export function unitOf(unit: string | undefined): string {
  // A number without a unit has the unit 1.
  return unit === undefined || unit === '1' ? '' : (units[unit] ?? unit);
}

/** Formats a number with as many decimals as its resolution needs, and a real minus sign. */
export function numberOf(value: number, resolution?: number): string {
  const decimals = resolution === undefined ? 3 : decimalsOf(resolution);
  // If the resolution is unknown, omit trailing zeros.
  const key = resolution === undefined ? undefined : decimals;
  let format = formats.get(key);
  if (format === undefined) {
    const minimumFractionDigits = resolution === undefined ? 0 : decimals;
    format = new Intl.NumberFormat(undefined, { minimumFractionDigits, maximumFractionDigits: decimals });
    formats.set(key, format);
  }
  return format.format(value).replace('-', '−');
}

/** Returns the step in which a value with this resolution is displayed. */
export function stepOf(unit: string | undefined, resolution: number | undefined): number | undefined {
  const step = steps[unit ?? ''];
  return step === undefined || resolution === undefined ? resolution : Math.max(step, resolution);
}

/** Keeps numbers and their units on one line. */
export function unbroken(text: string): string {
  return text.replaceAll(/(\d) (?=[%°]|(?:km|m|s|V|min|h)\b)/g, '$1\u00a0');
}

function decimalsOf(resolution: number): number {
  const text = resolution.toString();
  if (text.includes('e-')) return Math.min(8, Number(text.split('e-')[1]));
  return Math.min(8, text.split('.')[1]?.length ?? 0);
}

/** Formats a value without its unit. */
export function textOf(value: unknown, resolution?: number): string {
  if (typeof value === 'number') return numberOf(value, resolution);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toLocaleString();
  if (typeof value === 'string') return durationOf(value) ?? value;
  return JSON.stringify(value) ?? 'unknown';
}

/** Formats a duration of ISO 8601 with days, hours, minutes and seconds, such as PT1H30M: `1 h 30 min`. */
function durationOf(text: string): string | undefined {
  const [whole, ...numbers] = /^P(?=.*\d)(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const named = ['d', 'h', 'min', 's'].map((unit, i) => ({ unit, number: Number(numbers[i] ?? 0) }));
  const parts = named.filter(({ number }) => number > 0).map(({ unit, number }) => `${numberOf(number)} ${unit}`);
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** Formats a size: `812 B`, `9.8 kB`, `1.2 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999_950 ? `${numberOf(bytes / 1e3, 0.1)} kB` : `${numberOf(bytes / 1e6, 0.1)} MB`;
}

/** Formats an age: `now`, `4 s`, `12 min`, `3.2 h`, `2.1 d`. */
export function ageOf(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 1) return 'now';
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${numberOf(Math.floor(seconds / 360) / 10, 0.1)} h`;
  return `${numberOf(Math.floor(seconds / 8640) / 10, 0.1)} d`;
}

/** Formats an age: `just now`, `4 s ago`. */
export function agoOf(ms: number): string {
  return ms < 1000 ? 'just now' : `${ageOf(ms)} ago`;
}

export function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString();
}

/** Formats an identifier: `0x0A8`, `0x18FEF100`. */
export function identifierOf(id: number, extended = false): string {
  return `0x${id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0')}`;
}

/** Returns the end of a path in words: `doorsState.opening.RearLeft.state` becomes “Rear left, state”. */
export function wordsOf(path: string): string {
  // `energies.Electric.extension.electric.level` contains "electric" twice, and `extension` means nothing to people.
  const parts = path
    .split('.')
    .slice(1)
    .filter((part) => part !== 'extension');
  const text = parts
    .filter((part, index) => part.toLowerCase() !== parts[index - 1]?.toLowerCase())
    .map((part) => part.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase())
    .join(', ');
  return text === '' ? path : capital(text);
}

/** Returns the text with its first letter as a capital. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
