/** Values and commands that a car supports, by scope name: OnboardCapabilities (interface 3.19.2 and 4.17.2). */
import type { Side } from '../../../protocol/interface/operation.ts';
import { remoteScope } from '../../../protocol/interface/operations/scopes.ts';
import { remoteKindsOf } from '../../../protocol/interface/schemas/delivery.ts';
import type { Capabilities } from './car.ts';

/** OnboardCapabilities (interface 3.19.2). Only the fleet side includes the capabilities for thefts. */
export function onboardCapabilities(side: Side, capabilities: Capabilities): unknown {
  return { data: capabilities.data, remote: remoteOf(side, capabilities) };
}

function remoteOf(side: Side, { actions, commands }: Capabilities): unknown {
  const can = (...names: readonly string[]): boolean => commands && names.some((name) => actions.has(name));
  return Object.fromEntries(
    remoteKindsOf(side).flatMap(({ member, scope, capability }) => {
      if (capability === undefined) return [];
      const supported = capability.actions.length === 0 ? commands : can(...capability.actions);
      if (scope === undefined) return [[member, { supported }]];
      const parameters = capability.parameters?.of(can);
      const reported = { supported, scopeName: remoteScope(scope.name) };
      return [[scope.name, parameters === undefined ? reported : { ...reported, parameters }]];
    }),
  );
}
