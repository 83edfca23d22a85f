/** Checks that a quantity's values fit into the integers of columns, and change by more than one step of them. */
import type { Signal } from '../adapters/can/dbc/index.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import type { CustomSignal } from '../protocol/profile.ts';

/** Maximum absolute value of integers in columns (protocol/columns/numbers.ts). */
const REACH = 2 ** 51;

type StepFault = Required<Pick<Diagnostic, 'severity' | 'message' | 'fix'>>;

/**
 * Returns what is wrong with a signal's resolution. `described` is undefined if no DBC describes the signal, whose
 * range is then unknown. `shared`: true if the rule is a wildcard's, which applies to wide and narrow signals alike.
 */
export function stepFault(signal: CustomSignal, described: Signal | undefined, shared = false): StepFault | undefined {
  if (signal.kind !== 'quantity') return undefined;
  const { name, resolution: step = 1, offset = 0, scale, shift, rule } = signal;
  const fault = (severity: StepFault['severity'], message: string, fix: string): StepFault => {
    return { severity, message: `${name}: ${message}`, fix };
  };
  const useless = shared ? 'warning' : 'error';
  if (![step, offset, scale, shift].every(Number.isFinite) || step === 0) {
    return fault('error', `a step of ${step} cannot be kept`, 'write another scale, offset or resolution');
  }
  const range = described === undefined || described.type === 'float' ? undefined : rangeOf(described, signal);
  const { low, high, own } = range ?? { low: -1, high: 1, own: 0 };
  const between = `its values lie between ${low} and ${high}`;
  // Raw values are integers already.
  if (!signal.raw) {
    if (range !== undefined && low < high && Math.round(low / step) === Math.round(high / step)) {
      return fault(useless, `${between}: with a resolution of ${step} it never changes`, `write at most ${own}`);
    }
    const most = Math.max(Math.abs(low), Math.abs(high));
    if (most / step > REACH) {
      const message = `with a resolution of ${step} values beyond ±${shown(step * REACH)} are not recorded`;
      return fault(own > step * REACH ? useless : 'warning', message, `write at least ${shown(most / REACH)}`);
    }
  }
  if (range === undefined || low === high || rule.deadBand <= high - low) return undefined;
  return fault(useless, `${between}: it never changes by the dead-band ${rule.deadBand}`, 'make deadBand smaller');
}

/** Returns the range that the signal's bits can represent, in the unit of the profile, and the step of raw values. */
function rangeOf({ type, length, factor, offset }: Signal, { scale, shift }: CustomSignal) {
  const [first, last] = type === 'signed' ? [-(2 ** (length - 1)), 2 ** (length - 1) - 1] : [0, 2 ** length - 1];
  const ends = [first, last].map((raw) => (raw * factor + offset) * scale + shift);
  return { low: Math.min(...ends), high: Math.max(...ends), own: Math.abs(factor * scale) };
}

/** Formats a value rounded up, so that the advised value is large enough. */
function shown(value: number): string {
  const digits = value.toPrecision(2);
  return String(Number(digits) >= value ? Number(digits) : Number((value * 1.05).toPrecision(2)));
}
