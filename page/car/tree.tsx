/** All values, grouped by the first part of their path, with a filter, and the source of the chosen value. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type CarValue, store } from '../shared/car-store.ts';
import { carNow } from '../shared/connection.ts';
import { textOf, unitOf } from '../shared/format.ts';
import { useRows, useTopics } from '../shared/hooks.ts';
import { pathInWords, valueInWords } from '../shared/words.ts';
import { Source } from './source.tsx';
import { ValueRow } from './value-row.tsx';

/** Time after a change during which a value counts as changing. */
const CHANGING_SPAN_MS = 5_000;

type Only = 'all' | 'changing' | 'stale';

export function Tree(): JSX.Element {
  useTopics('paths', 'second', 'connection');
  const [filter, setFilter] = useState('');
  const [only, setOnly] = useState<Only>('all');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string>();
  const all = [...store.values.values()];
  const stale = all.filter((value) => store.isStale(value)).length;
  const groups = useMemo(() => groupsOf(all.filter((value) => isShown(value, filter, only))), [all, filter, only]);
  // A filter opens the groups that contain matches.
  const isClosed = (name: string): boolean => filter === '' && closed.has(name);
  const rows = groups.flatMap(({ name, values }) => [
    `group ${name}`,
    ...(isClosed(name) ? [] : values.map(({ path }) => path)),
  ]);
  const { list, reached, setFocused, focus, key: move } = useRows<HTMLDivElement>(rows);
  const toggle = (name: string, close = !closed.has(name)): void => {
    const next = new Set(closed);
    if (close) next.add(name);
    else next.delete(name);
    setClosed(next);
  };
  /** Handles the keys of the ARIA tree pattern. */
  const key = (event: KeyboardEvent): void => {
    const index = rows.indexOf(reached ?? '');
    const group = reached?.startsWith('group ') === true ? reached.slice(6) : undefined;
    move(event, {
      ArrowRight: () =>
        group === undefined ? undefined : isClosed(group) ? toggle(group, false) : focus(rows[index + 1]),
      ArrowLeft: () => (group === undefined ? focus(`group ${reached?.split('.', 1)[0]}`) : toggle(group, true)),
      Enter: () => (group === undefined ? setChosen(reached) : toggle(group)),
      ' ': () => (group === undefined ? setChosen(reached) : toggle(group)),
      Escape: () => setChosen(undefined),
    });
  };

  return (
    <section class="panel tree" aria-labelledby="values-title">
      <header>
        <h2 id="values-title">All values</h2>
        <span class="note">
          {all.length} values{stale > 0 ? `, ${stale} stale` : ''}, time since the last change
        </span>
      </header>
      <div class="find">
        <input
          id="filter"
          class="field"
          type="search"
          placeholder="Filter: battery, door, MOTION"
          aria-label="Filter values"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        {(['changing', 'stale'] as const).map((one) => (
          <button
            key={one}
            type="button"
            class="btn"
            aria-pressed={only === one}
            onClick={() => setOnly(only === one ? 'all' : one)}
          >
            {one === 'changing' ? 'Changing' : 'Stale'}
          </button>
        ))}
      </div>
      <div
        class="scroll"
        role="tree"
        aria-label="Values"
        ref={list}
        onKeyDown={key}
        onClick={({ target }) =>
          reach(target, (row) => (row.startsWith('group ') ? toggle(row.slice(6)) : setChosen(row)))
        }
        onFocusIn={({ target }) => reach(target, setFocused)}
        tabIndex={rows.length === 0 ? 0 : -1}
      >
        {groups.map(({ name, values }) => (
          <div key={name} role="none">
            <div
              role="treeitem"
              class="branch"
              aria-level={1}
              aria-expanded={!isClosed(name)}
              aria-selected={false}
              data-row={`group ${name}`}
              tabIndex={reached === `group ${name}` ? 0 : -1}
            >
              {name} <span class="count">{values.length}</span>
            </div>
            {!isClosed(name) &&
              values.map(({ path }) => (
                <ValueRow key={path} path={path} chosen={chosen === path} reached={reached === path} />
              ))}
          </div>
        ))}
        {groups.length === 0 && (
          <p class="none">
            {all.length === 0 ? 'The car has not sent a value yet.' : 'No value matches. Clear the filter to see all.'}
          </p>
        )}
      </div>
      <Source path={chosen} />
    </section>
  );
}

/** Calls `reached` with the row of the clicked or focused element. */
function reach(target: EventTarget | null, reached: (row: string) => void): void {
  const row = (target as Element | null)?.closest<HTMLElement>('[data-row]')?.dataset['row'];
  if (row !== undefined) reached(row);
}

function isShown(value: CarValue, filter: string, only: Only): boolean {
  if (only === 'stale' && !store.isStale(value)) return false;
  if (only === 'changing' && (value.changes === 0 || carNow() - value.at > CHANGING_SPAN_MS)) return false;
  if (filter === '') return true;
  const { unit = '', sources = [] } = store.descriptions.get(value.path) ?? {};
  const from = sources.map(({ bus, message, signal }) => `${bus ?? ''} ${message} ${signal}`).join(' ');
  const words = `${pathInWords(value.path)} ${valueInWords(value.path, value.value)}`;
  const text = `${value.path} ${textOf(value.value)} ${words} ${unitOf(unit)} ${from}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function groupsOf(
  values: readonly CarValue[],
): readonly { readonly name: string; readonly values: readonly CarValue[] }[] {
  const groups = new Map<string, CarValue[]>();
  // Sorted as in the interface, not in the order of arrival.
  const order = new Map([...store.descriptions.keys()].map((path, index) => [path, index]));
  const sorted = [...values].sort((a, b) => (order.get(a.path) ?? 1e9) - (order.get(b.path) ?? 1e9));
  for (const value of sorted) {
    const name = value.path.split('.', 1)[0] ?? '';
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [value]);
    else members.push(value);
  }
  return [...groups].map(([name, members]) => ({ name, values: members }));
}
