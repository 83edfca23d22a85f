import { commandId } from '../addressing.ts';
import type { ObdCommand, SignalSet } from '../signal-set.ts';

/**
 * Returns the signal set of a freeze frame. Service 02 returns the values at the time of a fault, for the same
 * parameters as service 01, with the frame number after them (SAE J1979 §6.2). Signal names get the prefix `Freeze`.
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

/** Parameters without a freeze-frame form: monitor status is always current (SAE J1979-DA, PID 01 and 41). */
const LIVE_ONLY: ReadonlySet<string> = new Set(['01', '41']);
