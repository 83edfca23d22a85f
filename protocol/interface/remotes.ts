/** Remotes by HTTP: which command a body is, and which scope it needs. */

import { type RemoteType, remoteKindOf } from '../remote/table.ts';
import { Member, malformed } from '../schema/monitor/input.ts';
import type { Side } from './operation.ts';
import { remoteScope, type Scope } from './operations/scopes.ts';
import { remoteKindsOf } from './schemas/delivery.ts';

/** A remote that was asked for. */
export interface AskedRemote {
  readonly type: RemoteType;
  /** Body of the command, as the table of kinds has it. */
  readonly body: object;
  readonly label?: string;
}

/**
 * The one command in a body that was checked.
 * @throws VigieError `input.malformed` when it has none or several, when what it asks for cannot be done, or for a label
 * that is too long or that no message can carry
 */
export function askedRemote(side: Side, body: unknown): AskedRemote {
  const given = body as Readonly<Record<string, unknown>>;
  const kinds = remoteKindsOf(side);
  const asked = kinds.filter(({ member }) => given[member] !== undefined);
  const [kind] = asked;
  if (kind === undefined || asked.length > 1) {
    const known = kinds.map(({ member }) => member);
    const found = asked.map(({ member }) => member).join(' and ') || 'none';
    throw malformed('body', `must have exactly one of ${known.join(', ')}; has ${found}`);
  }
  const { type, member } = kind;
  const command = given[member] as object;
  const fault = kind.fault?.(command);
  if (fault !== undefined) throw malformed(member, fault);
  const label = new Member(given['label'], 'label');
  return { type, body: command, ...(label.absent ? {} : { label: label.text() }) };
}

/** Scope of the user side that sending a remote needs; undefined: the user side does not have it. */
export function remoteScopeOf(type: RemoteType): Scope | undefined {
  const { scope } = remoteKindOf(type);
  return scope === undefined ? undefined : remoteScope(scope.name);
}
