/** Remotes over HTTP: the command in a body, and the scope that it needs. */

import { type RemoteType, remoteKindOf, remoteKinds } from '../remote/table.ts';
import { Member, malformed } from '../schema/monitor/input.ts';
import type { Side } from './operation.ts';
import { remoteScope, reservedScopes, type Scope } from './operations/scopes.ts';
import { remoteKindsOf } from './schemas/delivery.ts';

/** A submitted remote. */
interface AskedRemote {
  readonly type: RemoteType;
  /** Body of the command, in the form of the table of kinds. */
  readonly body: object;
  readonly label?: string;
}

/**
 * Returns the only command in a checked body.
 * @throws VigieError `input.malformed` if it has none or several, if the request cannot be executed, or if the label is
 * too long or cannot be represented in a message
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

/** Returns the scope of a kind of command: the published one, or one of {@link reservedScopes}. */
export function remoteScopeOf(type: RemoteType): Scope {
  const { scope, member } = remoteKindOf(type);
  return remoteScope(scope?.name ?? member);
}

/** Returns the scopes that sending a command needs: that of its kind, and those of the kinds that own its actions. */
function scopesOfRemote({ type, body }: Pick<AskedRemote, 'type' | 'body'>): ReadonlySet<Scope> {
  const actions = remoteKindOf(type).asks(body);
  const kinds = remoteKinds.filter((kind) => actions.some((action) => Object.hasOwn(kind.actions, action)));
  return new Set([type, ...kinds.map((kind) => kind.type)].map(remoteScopeOf));
}

/** Returns the scopes that a caller with `granted` lacks to send a command, as a sentence, or undefined. */
export function remoteLack(
  remote: Pick<AskedRemote, 'type' | 'body'>,
  granted: ReadonlySet<string> | undefined,
): string | undefined {
  const missing = granted && [...scopesOfRemote(remote)].find((scope) => !granted.has(scope));
  if (missing === undefined) return undefined;
  const holder = reservedScopes.includes(missing) ? ', which no user can have' : '';
  return `${remote.type} needs the scope ${missing}${holder}`;
}
