import { type CommandBodyKind, decodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteKind } from '../../protocol/remote/kind.ts';
import { type EffectParts, effectsOf } from './effects.ts';
import type { Plan } from './plan.ts';

/** What a body asks for. @throws VigieError `command.malformed` naming the member and the rule */
export function planOf(kind: RemoteKind, bytes: Uint8Array, parts: EffectParts): Plan {
  const body = decodeBody(kind.type as CommandBodyKind, bytes);
  const fault = kind.fault?.(body);
  if (fault !== undefined) throw new VigieError('command.malformed', `${kind.type}: ${fault}`);
  const parameters = kind.parameters?.(body);
  const ignored = kind.deprecated !== undefined && Object.hasOwn(body, kind.deprecated) ? kind.deprecated : undefined;
  return {
    actions: kind.asks(body),
    effects: effectsOf(kind.type, body, parts),
    ...(parameters === undefined ? {} : { parameters }),
    ...(ignored === undefined ? {} : { ignored }),
  };
}
