/** Remotes by HTTP: which command a body is, and which scope it needs. */
import { Member, malformed } from '../schema/monitor/input.ts';
import { bodyFault } from '../schema/remote/rules.ts';
import { type RemoteType, remoteTypes } from '../schema/remote.ts';
import type { Side } from './operation.ts';
import type { Scope } from './operations/scopes.ts';
import { typesOf } from './schemas/delivery.ts';
import { remoteMembers } from './schemas/remote.ts';

/** A remote that was asked for. */
export interface AskedRemote {
  readonly type: RemoteType;
  /** Body of the command, as protocol/schema/remote.ts `remoteBodies` has it. */
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
  const types = (typesOf(side, remoteTypes) as readonly RemoteType[]).filter(
    (one) => given[remoteMembers[one]] !== undefined,
  );
  const [type] = types;
  if (type === undefined || types.length > 1) {
    const known = typesOf(side, remoteTypes).map((one) => remoteMembers[one as RemoteType]);
    const found = types.length === 0 ? 'none' : types.map((one) => remoteMembers[one]).join(' and ');
    throw malformed('body', `must have exactly one of ${known.join(', ')}; has ${found}`);
  }
  const command = given[remoteMembers[type]] as object;
  const fault = bodyFault(type, command);
  if (fault !== undefined) throw malformed(remoteMembers[type], fault);
  const label = new Member(given['label'], 'label');
  return { type, body: command, ...(label.absent ? {} : { label: label.text() }) };
}

const scopes: Readonly<Record<Exclude<RemoteType, 'Immobilization' | 'Stolen'>, Scope>> = {
  ThermalPreconditioning: 'remote:preconditioning:write',
  ElectricBatteryChargingRequest: 'remote:charging:write',
  Horn: 'remote:horn:write',
  Doors: 'remote:door:write',
  Lights: 'remote:lights:write',
  WakeUp: 'remote:wakeup:write',
  Navigation: 'remote:navigation:write',
};

/** Scope of the user side that sending a remote needs; undefined: the user side does not have it. */
export function remoteScopeOf(type: RemoteType): Scope | undefined {
  return type === 'Immobilization' || type === 'Stolen' ? undefined : scopes[type];
}
