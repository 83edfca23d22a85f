import { remoteKinds } from '../../remote/table.ts';

type RemoteScope = `remote:${string}:write`;

/** Scope of a kind of command. */
export const remoteScope = (name: string): RemoteScope => `remote:${name}:write`;

const dataScopeMeanings = {
  'data:telemetry': 'State and telemetry of the vehicles.',
  'data:position': 'Where the vehicles are and were.',
  'data:trip': 'Trips of the vehicles.',
  'data:alert': 'Alerts of the vehicles.',
  'data:collision': 'Collisions of the vehicles.',
  'data:vehicle:devices:pnc': 'Plug and Charge of the vehicles; this car reports no such data.',
} as const;
type DataScope = keyof typeof dataScopeMeanings;

/** Scopes of the user side. Interface 4.17.2 `api_oauth`. */
export const scopes: Readonly<Record<string, string>> = {
  ...dataScopeMeanings,
  ...Object.fromEntries(
    remoteKinds.flatMap(({ scope }) => (scope === undefined ? [] : [[remoteScope(scope.name), scope.description]])),
  ),
};

/** Scopes that the published interface does not have: for frames, and for functions of only a hub or a bench. */
const ownScopes = {
  'data:bus': 'Frames on the buses of a car; no other scope includes it.',
  'exits:test': 'Try the receivers of the exits of a car; no other scope includes it.',
  'hub:rollout:write': 'Continue and stop roll-outs of configurations.',
  'hub:monitor:write': 'Change monitors and callbacks of fleets.',
  'hub:resend:write': 'Ask a car for missing messages.',
  'hub:trip:write': 'Set the class of trips, such as business or private.',
  'hub:status:read': 'Read the state of the hub, and which cars are not registered.',
  'bench:write': 'Unplug parts of a bench. No token grants it: a bench has no access control.',
} as const;
type OwnScope = keyof typeof ownScopes;

export type Scope = DataScope | RemoteScope | OwnScope;

export const scopeNames = Object.keys(scopes) as Scope[];

/**
 * Permissions to send the kinds of command for which the published interface has no scope: to immobilize a car, to
 * declare it stolen. A fleet token has them only if they were named at its creation; a user never has them.
 */
export const reservedScopes: readonly Scope[] = remoteKinds.flatMap(({ scope, member }) =>
  scope === undefined ? [remoteScope(member)] : [],
);

/** Scopes that `vigie hub token` grants only by name: permissions of the hub, and for fleets {@link reservedScopes}. */
export const namedScopes: readonly Scope[] = [
  ...(Object.keys(ownScopes) as OwnScope[]).filter((name) => name.startsWith('hub:')),
  ...reservedScopes,
];

/** All scopes with their meaning, for people. */
export const scopeMeanings: Readonly<Record<string, string>> = {
  ...scopes,
  ...Object.fromEntries(
    remoteKinds.flatMap(({ scope, member, type }) =>
      scope === undefined ? [[remoteScope(member), `Send ${type} commands; only for fleets, and only at a hub.`]] : [],
    ),
  ),
  ...ownScopes,
};

/** @returns `granted` without the permissions that a user never has */
export function userScopes(granted: ReadonlySet<string>): ReadonlySet<string> {
  const reserved: readonly string[] = reservedScopes;
  return new Set([...granted].filter((scope) => !reserved.includes(scope)));
}

/** Scopes of data that monitors watch. The conditions and contents of a monitor need their own scopes. */
export const dataScopes: readonly Scope[] = [
  'data:telemetry',
  'data:position',
  'data:trip',
  'data:alert',
  'data:collision',
];

/** Scopes for reading and sending remotes: each kind has its own. */
export const remoteScopes: readonly Scope[] = scopeNames.filter((name) => name.startsWith('remote:'));

/** Scopes that a token needs for an operation. For the user side: interface 4.17.2, the tables of mandatory state. */
export interface OperationScopes {
  /** All of these are required. */
  readonly required: readonly Scope[];
  /** Scopes of optional fields: a field is omitted if the caller lacks its scope. */
  readonly optional: readonly Scope[];
  /** True if some content needs none of `optional`; otherwise at least one of them is required. */
  readonly more?: true;
}

/** Scopes of an operation that needs none. */
export const noScopes: OperationScopes = { required: [], optional: [] };

/** Returns the scopes that a caller with `granted` lacks, as the end of a sentence, or undefined. */
export function lackOf(
  { required, optional, more }: OperationScopes,
  granted: ReadonlySet<string>,
): string | undefined {
  const missing = required.filter((scope) => !granted.has(scope));
  if (missing.length > 0) return `needs the ${missing.length > 1 ? 'scopes' : 'scope'} ${missing.join(', ')}`;
  if (required.length > 0 || (optional.length === 0 && more !== true)) return undefined;
  // Interface 4.17.2: a token without any scope is rejected.
  const any = more === true ? scopeNames : optional;
  return any.some((scope) => granted.has(scope)) ? undefined : `needs one of the scopes ${any.join(', ')}`;
}
