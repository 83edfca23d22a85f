import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { OwedNumbers } from '../ports.ts';
import type { AgentCommand } from './agent-command.ts';

/** Carries out commands of kind `Resend`. `repeat` accepts the numbers to send again, or throws the reason why not. */
export function resendCommand(repeat: (numbers: OwedNumbers) => void): AgentCommand {
  return async (body) => {
    const { class: priority, numbers } = decodeBody('Resend', body);
    const wrong = numbers.find(([first, last]) => first > last);
    if (wrong !== undefined) {
      throw new VigieError('command.malformed', `the run ${wrong[0]} to ${wrong[1]} ends before it begins`);
    }
    repeat({ class: priority, numbers });
  };
}
