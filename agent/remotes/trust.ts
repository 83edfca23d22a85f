import { decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { TrustKeeper } from '../ports.ts';
import type { AgentCommand } from './agent-command.ts';

/** Carries out commands of kind `Trust`. */
export function trustCommand(keeper: TrustKeeper): AgentCommand {
  return async (body) => {
    const { add, revoke } = decodeBody('Trust', body);
    if ((add === undefined) === (revoke === undefined)) {
      throw new VigieError('command.malformed', 'it has to add a key or to revoke one, and not both');
    }
    if (add !== undefined) await keeper.add(add);
    if (revoke !== undefined) await keeper.revoke(revoke);
  };
}
