/** Capabilities of a car. Interface 3.19.2 and 4.17.2 OnboardCapabilities, which spells it `wakeup`. */
import { dataCapabilities } from '../../capabilities.ts';
import { defined } from '../../defined.ts';
import type { RemoteKind } from '../../remote/kind.ts';
import type { Side } from '../operation.ts';
import { remoteScope } from '../operations/scopes.ts';
import { remoteKindsOf } from './delivery.ts';
import { array, boolean, type JsonSchema, object, string } from './json.ts';

const supported = boolean('Whether the car can do it.');

function capabilityOf({ member, scope, capability }: RemoteKind): readonly [name: string, JsonSchema] {
  const title = `${member.slice(0, 1).toUpperCase()}${member.slice(1)}Capability`;
  if (scope === undefined) return [member, object(title, 'One kind of remote.', [], { supported })];
  const parameters = capability?.parameters?.schema;
  const members = {
    supported,
    scopeName: string('Scope that lets one ask for it.', { enum: [remoteScope(scope.name)] }),
    ...defined({ parameters }),
  };
  return [scope.name, object(title, 'One kind of remote.', Object.keys(members), members)];
}

export function onboardCapabilities(side: Side): JsonSchema {
  const remote = Object.fromEntries(
    remoteKindsOf(side).flatMap((kind) => (kind.capability === undefined ? [] : [capabilityOf(kind)])),
  );
  return object('OnboardCapabilities', 'Capabilities of the car. Interface 3.19.2 OnboardCapabilities.', [], {
    data: array(string('Name of data.', { enum: dataCapabilities }), 'Data that the car gives.'),
    remote: object('RemoteCapabilities', 'Remotes that the car carries out.', Object.keys(remote), remote),
  });
}
