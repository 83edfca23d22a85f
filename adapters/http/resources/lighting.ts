/** The deprecated form of the lamps: interface 3.19.2 Telemetry.vehicle.lighting. */
import type { Written } from './twins.ts';

interface Lamp {
  readonly direction: string;
  readonly position: string;
  readonly status?: string;
}

/** Three lists of one length: side, end and state of each turn indicator. Undefined when there is none. */
export function lightingOf(system: Written | undefined): Written | undefined {
  const lamps = ((system?.['turn'] ?? []) as readonly Lamp[]).filter(({ status }) => status !== undefined);
  if (lamps.length === 0) return undefined;
  return {
    turn: lamps.map(({ direction }) => direction),
    light: lamps.map(({ position }) => position),
    status: lamps.map(({ status }) => status),
  };
}
