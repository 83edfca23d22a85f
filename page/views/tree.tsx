/** Every value by the first member of its path, with a filter, and where the chosen value comes from. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type CarValue, store } from '../car-store.ts';
import { carNow } from '../connection.ts';
import { ageOf, textOf, unitOf } from '../format.ts';
import { useRows, useTopics, useValue } from '../hooks.ts';
import { Source } from './source.tsx';

/** A value that changed within this time counts as changing, ms. */
const CHANGING = 5_000;

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
  // A filter opens what it finds.
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
  /** Keys of the ARIA pattern of trees. */
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
              onClick={() => toggle(name)}
              onFocus={() => setFocused(`group ${name}`)}
            >
              {name} <span class="count">{values.length}</span>
            </div>
            {!isClosed(name) &&
              values.map(({ path }) => (
                <Row
                  key={path}
                  path={path}
                  chosen={chosen === path}
                  reached={reached === path}
                  choose={() => setChosen(path)}
                  focus={() => setFocused(path)}
                />
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

interface RowOptions {
  readonly path: string;
  readonly chosen: boolean;
  readonly reached: boolean;
  readonly choose: () => void;
  readonly focus: () => void;
}

function Row({ path, chosen, reached, choose, focus }: RowOptions): JSX.Element | null {
  const found = useValue(path);
  if (found === undefined) return null;
  const { unit, resolution } = store.descriptions.get(path) ?? {};
  const [, ...rest] = path.split('.');
  const last = rest.pop() ?? path;
  const stale = store.isStale(found);
  return (
    <div
      role="treeitem"
      class={`row${stale ? ' stale' : ''}${chosen ? ' chosen' : ''}`}
      aria-level={2}
      aria-selected={chosen}
      data-row={path}
      tabIndex={reached ? 0 : -1}
      onClick={choose}
      onFocus={focus}
    >
      <span class="path" title={path}>
        {rest.length > 0 && <i>{rest.join('.')}.</i>}
        <span class="last">{last}</span>
      </span>
      {/* A new key starts the flash again. */}
      <span key={found.changes} class={found.changes > 0 && !stale ? 'shown flash' : 'shown'}>
        {textOf(found.value, resolution)}
        {unitOf(unit) !== '' && <small> {unitOf(unit)}</small>}
      </span>
      <Age value={found} />
    </div>
  );
}

function Age({ value }: { readonly value: CarValue }): JSX.Element {
  useTopics('second');
  return <span class="age">{ageOf(carNow() - value.at)}</span>;
}

function isShown(value: CarValue, filter: string, only: Only): boolean {
  if (only === 'stale' && !store.isStale(value)) return false;
  if (only === 'changing' && (value.changes === 0 || carNow() - value.at > CHANGING)) return false;
  if (filter === '') return true;
  const { unit = '', sources = [] } = store.descriptions.get(value.path) ?? {};
  const from = sources.map(({ bus, message, signal }) => `${bus ?? ''} ${message} ${signal}`).join(' ');
  const text = `${value.path} ${textOf(value.value)} ${unitOf(unit)} ${from}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function groupsOf(
  values: readonly CarValue[],
): readonly { readonly name: string; readonly values: readonly CarValue[] }[] {
  const groups = new Map<string, CarValue[]>();
  // In the order of the interface, whatever came first.
  const order = new Map([...store.descriptions.keys()].map((path, index) => [path, index]));
  const sorted = [...values].sort((a, b) => (order.get(a.path) ?? 1e9) - (order.get(b.path) ?? 1e9));
  for (const value of sorted) {
    const name = value.path.split('.', 1)[0] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), value]);
  }
  return [...groups].map(([name, members]) => ({ name, values: members }));
}
