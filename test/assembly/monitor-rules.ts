/** What the published interface says of monitors, without the project's tables. */
import type { Side } from '../../protocol/interface/operation.ts';
import { factsOf, type Model, releases } from '../protocol/interface/published/facts.ts';

/** Everything of one line that a monitor can name. */
export interface MonitorRules {
  readonly data: readonly string[];
  readonly operators: readonly string[];
  readonly previousOperators: readonly string[];
  readonly extensions: readonly string[];
  readonly transitions: readonly string[];
  readonly statuses: readonly string[];
}

/** @throws Error when there is no such list: what it cannot find it must not pass over */
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
