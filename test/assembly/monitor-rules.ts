/** Rules of the published interface for monitors, independent of the project's tables. */
import type { Side } from '../../protocol/interface/operation.ts';
import { factsOf, type Model, releases } from '../protocol/interface/published/facts.ts';

/** All data names and operators that monitors of one side can use. */
export interface MonitorRules {
  readonly data: readonly string[];
  readonly operators: readonly string[];
  readonly previousOperators: readonly string[];
  readonly extensions: readonly string[];
  readonly transitions: readonly string[];
  readonly statuses: readonly string[];
}

/** @throws Error if the document has no such list, so that a missing list is never taken for an empty one */
export function monitorRules(side: Side): MonitorRules {
  const { models } = factsOf(releases[side]);
  const values = (name: string, ...members: readonly string[]): readonly string[] => {
    const model = members.reduce<Model | undefined>((of, member) => of?.properties?.[member], models[name]);
    const list = model?.enum ?? model?.items?.enum;
    if (list === undefined) throw new Error(`${releases[side]} has no list of ${[name, ...members].join('.')}`);
    return list;
  };
  return {
    data: values('DataTrigger', 'data'),
    operators: values('DataTrigger', 'op'),
    previousOperators: side === 'user' ? values('DataTrigger', 'previous', 'op') : [],
    extensions: values('MonitorParameter', 'extendedEventParam'),
    transitions: values('ZoneTrigger', 'transition'),
    statuses: values('MonitorStatusSetter', 'status'),
  };
}
