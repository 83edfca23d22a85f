/** Scopes of the user side. Interface 4.17.2 `api_oauth`. */
export const scopes = {
  'data:telemetry': 'State and telemetry of the vehicles.',
  'data:position': 'Where the vehicles are and were.',
  'data:trip': 'Trips of the vehicles.',
  'data:alert': 'Alerts of the vehicles.',
  'data:collision': 'Collisions of the vehicles.',
  'data:vehicle:devices:pnc': 'Which vehicles there are, and what they can do.',
  'remote:door:write': 'Lock and unlock the doors.',
  'remote:preconditioning:write': 'Heat and cool the cabin before a drive.',
  'remote:horn:write': 'Sound the horn.',
  'remote:charging:write': 'Start, stop and plan charging.',
  'remote:lights:write': 'Flash the lights.',
  'remote:wakeup:write': 'Wake the vehicles.',
  'remote:navigation:write': 'Send places to the navigation.',
} as const;
export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];

/** Data that monitors watch: any of these lets one have monitors. */
export const dataScopes: readonly Scope[] = [
  'data:telemetry',
  'data:position',
  'data:trip',
  'data:alert',
  'data:collision',
];

/** Any of these lets one see remotes; sending one needs that of its kind. */
export const remoteScopes: readonly Scope[] = scopeNames.filter((name) => name.startsWith('remote:'));
