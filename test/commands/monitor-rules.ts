/**
 * What the published interface says of monitors, read from its digest by a reader that knows nothing of the project's
 * tables: which operators each data name takes, what can be watched and told beside it, and how things are spelled.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Side } from '../../protocol/interface/operation.ts';
import { describeNeeding } from '../needs.ts';
import { sharedData } from '../shared.ts';

const folder = `${sharedData}../reference/`;
const files: Readonly<Record<Side, string>> = { fleet: 'fleet-3.19.2.txt', user: 'user-4.17.2.txt' };

export function describeReference(name: string, suite: () => void): void {
  describeNeeding(existsSync(folder), `${folder} is not there`, name, suite);
}

/** Everything of one line that a monitor can name. */
export interface MonitorRules {
  readonly data: readonly string[];
  readonly operators: readonly string[];
  readonly previousOperators: readonly string[];
  readonly extensions: readonly string[];
  readonly transitions: readonly string[];
  readonly statuses: readonly string[];
}

/** @throws Error when the digest has no such list: what it cannot find it must not pass over */
export function monitorRules(side: Side): MonitorRules {
  const text = readFileSync(folder + files[side], 'utf8');
  const schema = (name: string): string => {
    const found = text.split(/^## /m).find((part) => part.startsWith(`${name}: `));
    if (found === undefined) throw new Error(`${files[side]} has no ${name}`);
    return found;
  };
  const values = (name: string, member: RegExp): string[] => {
    const list = new RegExp(`${member.source}: (?:string enum|\\[enum)\\[([^\\]]*)\\]`).exec(schema(name))?.[1];
    if (list === undefined) throw new Error(`${files[side]} has no list of ${name}.${member.source}`);
    return [...list.matchAll(/'([^']*)'/g)].map(([, value]) => value as string);
  };
  return {
    data: values('DataTrigger', /data\*/),
    operators: values('DataTrigger', /op\*/),
    previousOperators: side === 'user' ? values('DataTrigger', /previous: \{[^}]*op\*/) : [],
    extensions: values('MonitorParameter', /extendedEventParam/),
    transitions: values('ZoneTrigger', /transition\*/),
    statuses: values('MonitorStatusSetter', /status\*/),
  };
}

const symbols: Readonly<Record<string, string>> = { '=': 'equalsTo', '>': 'greaterThan', '<': 'lowerThan' };

/** Operators by data name without `vehicle.`, from the sentences of §3 such as `onChange/equalsTo: a.b, c.d/e (note).` */
export function operatorsByData(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(`${folder}interface.md`, 'utf8');
  const paragraph = /^ +Number ops [\s\S]*?(?=^- )/m.exec(page)?.[0] ?? '';
  const sentences = paragraph.matchAll(/([A-Za-z/]+(?: only| ops \([^)]*\))?): ((?:[^.:]|\.(?! |$|\n))+)\.(?= |$|\n)/g);
  const found = new Map<string, readonly string[]>();
  for (const [, head = '', list = ''] of sentences) {
    const operators = head.startsWith('Number')
      ? [...(/\(([^)]*)\)/.exec(head)?.[1] ?? '')].flatMap((symbol) => symbols[symbol] ?? [])
      : head.replace(' only', '').split('/');
    for (const entry of list.replaceAll(/ ?\([^)]*\)/g, '').split(',')) {
      // `energy.fuel.level/autonomy` are two that differ in their last word.
      const [first = '', ...others] = entry.trim().split('/');
      const stem = first.slice(0, first.lastIndexOf('.') + 1);
      for (const name of [first, ...others.map((other) => stem + other)]) {
        found.set(name.replace(/^vehicle\./, ''), operators);
      }
    }
  }
  return found;
}
