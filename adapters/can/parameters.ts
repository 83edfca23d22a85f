/**
 * Signals of a command whose values are parameters of the command. The profile contains `{longitude}` in place of such
 * a value. The message is then sent once for each position of a route, in order.
 */
import type { ActionParameters } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';

export type SignalValues = Readonly<Record<string, number | string>>;

/** Maximum number of positions: nine waypoints and the destination (interface: Navigation). */
const MOST = 10;

/**
 * Parameters with lowest and highest value: degrees (WGS 84), index of the position from 0, and 1 for the last one
 * only.
 */
const ranges = {
  longitude: [-180, 180],
  latitude: [-90, 90],
  index: [0, MOST - 1],
  last: [0, 1],
} as const;
type Name = keyof typeof ranges;

/** Returns true if a signal needs a parameter. */
function parametric(signals: SignalValues): boolean {
  return Object.values(signals).some((value) => nameIn(value) !== undefined);
}

/**
 * Returns the signals with all parameters at their lowest and at their highest values. A network description must be
 * able to carry both.
 * @throws VigieError `configuration.wrong` if a parameter is unknown
 */
export function extremes(signals: SignalValues): readonly SignalValues[] {
  if (!parametric(signals)) return [signals];
  return [0, 1].map((end) => filled(signals, (name) => ranges[name][end] as number));
}

/**
 * Returns the signals of each frame of one command with the parameters filled in, in the order of sending.
 * @throws VigieError `command.unsupported` if the profile and the parameters do not match
 */
export function messagesOf(signals: SignalValues, parameters: ActionParameters | undefined): readonly SignalValues[] {
  if (!parametric(signals)) {
    if (parameters === undefined) return [signals];
    throw new VigieError('command.unsupported', 'the vehicle profile does not say which signals carry the positions');
  }
  const positions = positionsOf(parameters);
  return positions.map(([longitude, latitude], index) => {
    const values = { longitude, latitude, index, last: index === positions.length - 1 ? 1 : 0 };
    return filled(signals, (name) => values[name]);
  });
}

function filled(signals: SignalValues, value: (name: Name) => number): SignalValues {
  return Object.fromEntries(
    Object.entries(signals).map(([signal, written]) => {
      const name = nameIn(written);
      if (name === undefined) return [signal, written];
      if (Object.hasOwn(ranges, name)) return [signal, value(name as Name)];
      const known = Object.keys(ranges).map((one) => `{${one}}`);
      throw new VigieError('configuration.wrong', `${signal}: no parameter {${name}}; known: ${known.join(', ')}`);
    }),
  );
}

function nameIn(value: number | string): string | undefined {
  return typeof value === 'string' ? /^\{(.*)\}$/.exec(value)?.[1] : undefined;
}

function positionsOf(parameters: ActionParameters | undefined): readonly (readonly [number, number])[] {
  const positions = parameters?.['positions'];
  if (Array.isArray(positions) && positions.length > 0 && positions.length <= MOST && positions.every(isPosition)) {
    return positions;
  }
  throw new VigieError('command.unsupported', `the vehicle profile needs 1 to ${MOST} positions for this`);
}

function isPosition(position: unknown): position is readonly [number, number] {
  return Array.isArray(position) && typeof position[0] === 'number' && typeof position[1] === 'number';
}
