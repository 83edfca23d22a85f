/** Scopes needed for fields of Vigie's own responses, and the only filter that omits fields without their scope. */
import { findRemoteKind } from '../remote/table.ts';
import type { Kind } from '../schema/kind.ts';
import { eventScopesOf } from './monitors.ts';
import type { Scope } from './operations/scopes.ts';
import type { FleetCar, FleetEvent } from './own/hub-overview.ts';
import { remoteScopeOf } from './remotes.ts';

/** Returns true if the caller has a scope. */
export type Sees = (scope: Scope) => boolean;

/** @param scopes of the credentials; if undefined, the caller sees everything */
export function seesOf({ scopes }: { readonly scopes?: ReadonlySet<string> }): Sees {
  return (scope) => scopes?.has(scope) ?? true;
}

/** Returns the scope of a value of Status, by its path. */
export function scopeOfPath(path: string): Scope {
  return /^lastPosition\.|\.(p|startP|endP)osition$/.test(path) ? 'data:position' : 'data:telemetry';
}

type AlwaysSeen = 'vin' | 'heard' | 'missing';

/** Scopes of the fields of a car in the table of a hub. */
export const carMembers: Readonly<Record<Exclude<keyof FleetCar, AlwaysSeen>, Scope>> = {
  speed: 'data:telemetry',
  charging: 'data:telemetry',
  electric: 'data:telemetry',
  fuel: 'data:telemetry',
  mileage: 'data:telemetry',
  latitude: 'data:position',
  longitude: 'data:position',
};

/** Returns the car as visible to the caller, also for sorting. */
export function seenCar(sees: Sees, { vin, heard, missing, ...members }: FleetCar): FleetCar {
  const scopes: Readonly<Record<string, Scope | undefined>> = carMembers;
  const seen = Object.entries(members).filter(([name]) => {
    const scope = scopes[name];
    return scope !== undefined && sees(scope);
  });
  return { vin, heard, missing, ...Object.fromEntries(seen) };
}

/** Scopes of events by kind; a kind without a row is hidden from every token. For monitors: {@link eventScopesOf}. */
export const eventScopes: Readonly<Partial<Record<Kind, Scope>>> = {
  trip: 'data:trip',
  alert: 'data:alert',
  collision: 'data:collision',
  maintenance: 'data:telemetry',
  alarm: 'data:telemetry',
  stolen: 'data:telemetry',
  fault: 'data:telemetry',
  gap: 'data:telemetry',
};

/** Returns the event as visible to the caller; undefined if it is hidden. */
export function seenEvent(sees: Sees, event: FleetEvent): FleetEvent | undefined {
  const body = seenRecord(sees, event.kind, event.body);
  return body === undefined ? undefined : { ...event, body };
}

/** Returns the body of a record, a command or an event as visible to the caller; undefined if it is hidden. */
export function seenRecord(sees: Sees, kind: Kind, body: FleetEvent['body']): FleetEvent['body'] | undefined {
  const scope = eventScopes[kind];
  const isSeen =
    kind === 'remote'
      ? seesCommand(sees, String(body['type']))
      : kind === 'event'
        ? [...eventScopesOf(body)].every(sees)
        : scope !== undefined && sees(scope);
  return isSeen ? (withoutHidden(sees, body) as FleetEvent['body']) : undefined;
}

/** Returns true if the caller sees a command in the audit trail: as a state of the car, or as one it may send. */
function seesCommand(sees: Sees, type: string): boolean {
  const kind = findRemoteKind(type);
  return sees('data:telemetry') || (kind !== undefined && sees(remoteScopeOf(kind.type)));
}

/** Fields of the agent's own commands that describe a monitor or a callback: their owner may be another caller. */
const ofOthers: ReadonlySet<string> = new Set(['monitor', 'subscribe']);

/**
 * Returns the command as visible to the caller; undefined if it is hidden. Destinations in it are positions. Content of
 * monitors is omitted: only their owner may read it, with the monitors.
 */
export function seenCommand<T extends { readonly type: string; readonly body: object }>(
  sees: Sees,
  command: T,
): T | undefined {
  if (!seesCommand(sees, command.type)) return undefined;
  const isOwn = findRemoteKind(command.type) === undefined;
  const body = Object.entries(command.body).filter(([name]) => !(isOwn && ofOthers.has(name)));
  return { ...command, body: withoutHidden(sees, Object.fromEntries(body)) as object };
}

/** Fields of messages that contain positions, in addition to GeoJSON. */
const places: ReadonlySet<string> = new Set(['positions', 'coordinates', 'latitude', 'longitude']);

/**
 * Without `data:position`, omits every position (GeoJSON, destinations), and readings in columns, which may contain
 * positions; without `data:telemetry`, omits readings in columns.
 */
function withoutHidden(sees: Sees, value: unknown): unknown {
  const position = sees('data:position');
  if (position && sees('data:telemetry')) return value;
  const isHidden = (name: string, member: unknown): boolean => {
    if (!position && places.has(name)) return true;
    if (typeof member !== 'object' || member === null) return false;
    return 'columns' in member || (!position && 'geometry' in member);
  };
  const clean = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(clean);
    if (typeof one !== 'object' || one === null || ArrayBuffer.isView(one)) return one;
    const members = Object.entries(one).filter(([name, member]) => !isHidden(name, member));
    return Object.fromEntries(members.map(([name, member]) => [name, clean(member)]));
  };
  return clean(value);
}
