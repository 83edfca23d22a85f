import { commandId } from '../addressing.ts';
import type { ObdCommand, SignalSet } from '../signal-set.ts';

/**
 * Service 02 asks of the moment of a fault what service 01 asks of now: the same parameters with the number of the
 * frame behind them (SAE J1979 §6.2). Signals keep their names with `Freeze` in front.
 * @param frame number of the freeze frame, 0..255
 */
export function freezeFrameSet(current: SignalSet, frame = 0): SignalSet {
  const behind = frame.toString(16).toUpperCase().padStart(2, '0');
  const commands = current.commands
    .filter(({ service, parameter }) => service === 0x01 && !LIVE_ONLY.has(parameter))
    .map((command): ObdCommand => {
      const moved = { ...command, service: 0x02, parameter: `${command.parameter}${behind}` };
      return {
        ...moved,
        id: commandId(moved),
        signals: command.signals.map((signal) => ({ ...signal, id: `Freeze${signal.id}` })),
      };
    });
  return { ...current, commands };
}

/** Monitor status is of now, never of a freeze frame (SAE J1979-DA, PID 01 and 41). */
const LIVE_ONLY: ReadonlySet<string> = new Set(['01', '41']);
