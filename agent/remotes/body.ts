import { type CommandBody, type CommandBodyKind, decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import { bodyFault, deprecatedMember } from '../../protocol/schema/remote/rules.ts';

/** What a body asks for. @throws VigieError `command.malformed` naming the member and the rule */
export function readBody<K extends CommandBodyKind>(kind: K, bytes: Uint8Array): CommandBody<K> {
  const body = decodeBody(kind, bytes);
  const fault = bodyFault(kind, body);
  if (fault !== undefined) throw new VigieError('command.malformed', `${kind}: ${fault}`);
  return body;
}

/** The member of a sound body that is accepted without effect. */
export function ignoredMember(kind: CommandBodyKind, bytes: Uint8Array): string | undefined {
  return deprecatedMember(kind, decodeBody(kind, bytes));
}
