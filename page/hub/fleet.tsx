/** All cars of a hub: counts that act as filters, map, table, latest events, and commands to many cars. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  type Age,
  ageOfSilence,
  ages,
  type FleetCar,
  type FleetTable,
  type SortKey,
} from '../../protocol/interface/own/hub-overview.ts';
import { addressOfCar } from '../shared/addresses.ts';
import { carNow, sideOfCredentials } from '../shared/connection.ts';
import { ageOf, numberOf } from '../shared/format.ts';
import { useRows, useTopics } from '../shared/hooks.ts';
import { FleetCommands } from './fleet-commands.tsx';
import { FleetEvents } from './fleet-events.tsx';
import { FleetMap } from './fleet-map.tsx';
import { Rollouts } from './rollouts.tsx';

/** Number of rows on a page, the same as the hub's default. */
const ROWS_PER_PAGE = 50;
/** Delay in ms between the last key press and the request to the hub. */
const TYPING_DELAY_MS = 150;

export interface TableQuery {
  readonly search: string;
  readonly age: Age | undefined;
  /** Key of the column by which rows are sorted, with the prefix `-` for descending order. */
  readonly sort: string;
  /** Index of the first row. */
  readonly first: number;
}

const ageNames: Readonly<Record<Age, string>> = {
  minute: 'last minute',
  hour: 'last hour',
  day: 'last day',
  older: 'longer ago',
};

export interface FleetOptions {
  readonly table: FleetTable;
  readonly query: TableQuery;
  readonly ask: (query: TableQuery) => void;
}

export function FleetPanels({ table, query, ask }: FleetOptions): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [pointed, setPointed] = useState<string>();
  const change = (part: Partial<TableQuery>): void => ask({ ...query, first: 0, ...part });
  const toggle = (vins: readonly string[], add: boolean): void =>
    // Starts from the current choice: several changes may happen before the next redraw.
    setChosen((before) => new Set(add ? [...before, ...vins] : [...before].filter((vin) => !vins.includes(vin))));
  const { total } = table;
  // Map and events are not redrawn together with the table.
  const aside = useMemo(
    () => (
      <>
        <FleetMap pointed={pointed} />
        <FleetEvents />
      </>
    ),
    [pointed],
  );
  return (
    <>
      <div class="fleet-head">
        <h2 data-testid="total">
          {numberOf(total, 1)} {total === 1 ? 'car' : 'cars'}
        </h2>
        <fieldset class="ages" aria-label="Cars by the age of their data">
          {ages.map((age) => (
            <button
              key={age}
              type="button"
              class="btn"
              aria-pressed={query.age === age}
              onClick={() => change({ age: query.age === age ? undefined : age })}
            >
              <AgeMark age={age} />
              <b>{numberOf(table.ages[age], 1)}</b> {ageNames[age]}
            </button>
          ))}
        </fieldset>
        {table.unregistered !== undefined && <Unregistered cars={table.unregistered} />}
        <Search search={query.search} ask={(search) => change({ search })} />
      </div>
      <div class="fleet-grid">
        <div>
          <Cars {...{ table, query, change, chosen, toggle }} point={setPointed} />
          <FleetCommands chosen={chosen} forget={() => setChosen(new Set())} />
          {sideOfCredentials() === 'fleet' && <Rollouts />}
        </div>
        <div>{aside}</div>
      </div>
    </>
  );
}

/** Number of cars that send messages and are not registered. */
function Unregistered({ cars }: { readonly cars: number }): JSX.Element {
  return (
    <p class="unregistered" data-testid="unregistered">
      {cars === 1 ? '1 car is' : `${numberOf(cars, 1)} cars are`} not registered: <code>vigie hub add</code>
    </p>
  );
}

/** Shows the age as a shape, in addition to a word or the time. */
function AgeMark({ age }: { readonly age: Age }): JSX.Element {
  return <i class={`mark age ${age}`} aria-hidden="true" />;
}

function Search({ search, ask }: { readonly search: string; readonly ask: (search: string) => void }): JSX.Element {
  const [text, setText] = useState(search);
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => ask(text.trim()), TYPING_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      id="filter"
      class="field"
      type="search"
      placeholder="Part of a VIN"
      aria-label="Search cars"
      maxLength={64}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}

interface Column {
  readonly name: string;
  readonly key?: SortKey;
  /** True if the first click sorts by this column in descending order. */
  readonly descending?: boolean;
}

const columns: readonly Column[] = [
  { name: 'Heard', key: 'heard', descending: true },
  { name: 'VIN', key: 'vin' },
  { name: 'Now', key: 'speed', descending: true },
  { name: 'Battery', key: 'electric' },
  { name: 'Fuel', key: 'fuel' },
  { name: 'Odometer', key: 'mileage', descending: true },
  { name: 'Missing', key: 'missing', descending: true },
];

interface CarsOptions {
  readonly table: FleetTable;
  readonly query: TableQuery;
  readonly change: (part: Partial<TableQuery>) => void;
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (vins: readonly string[], add: boolean) => void;
  readonly point: (vin: string | undefined) => void;
}

function Cars({ table, query, change, chosen, toggle, point }: CarsOptions): JSX.Element {
  const { vehicles, matching } = table;
  const shown = vehicles.map(({ vin }) => vin);
  const { list, reached, setFocused, focus, key: move } = useRows<HTMLTableSectionElement>(shown);
  const open = (vin: string | undefined): void => {
    if (vin !== undefined) location.hash = addressOfCar(vin);
  };
  const key = (event: KeyboardEvent): void => {
    if ((event.target as HTMLElement).closest('tbody') === null) return;
    const index = shown.indexOf(reached ?? '');
    move(event, {
      PageDown: () => focus(shown[Math.min(index + 12, shown.length - 1)]),
      PageUp: () => focus(shown[Math.max(index - 12, 0)]),
      Enter: () => open(reached),
      ' ': () => reached !== undefined && toggle([reached], !chosen.has(reached)),
    });
  };
  const all = shown.length > 0 && shown.every((vin) => chosen.has(vin));
  const last = Math.min(query.first + ROWS_PER_PAGE, matching);
  return (
    <section class="panel cars" aria-labelledby="cars-title">
      <header>
        <h2 id="cars-title">Cars</h2>
        <span class="note">Enter opens a car, Space chooses it</span>
      </header>
      <section class="scroll" aria-label="List of cars" tabIndex={shown.length === 0 ? 0 : -1}>
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the ARIA pattern of grids, on a table */}
        <table role="grid" aria-label="Cars" onKeyDown={key} onMouseLeave={() => point(undefined)}>
          <thead>
            <tr>
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label="Choose all cars of this page"
                  checked={all}
                  onChange={() => toggle(shown, !all)}
                />
              </th>
              {columns.map((column) => (
                <Head key={column.name} column={column} sort={query.sort} change={change} />
              ))}
            </tr>
          </thead>
          <tbody ref={list}>
            {vehicles.map((car) => (
              <CarRow
                key={car.vin}
                car={car}
                chosen={chosen.has(car.vin)}
                reached={reached === car.vin}
                open={() => open(car.vin)}
                toggle={() => toggle([car.vin], !chosen.has(car.vin))}
                focus={() => {
                  setFocused(car.vin);
                  point(car.vin);
                }}
                point={() => point(car.vin)}
              />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && (
          <p class="none">
            {table.total === 0
              ? 'No car has sent a message yet. Cars publish to the broker of the hub.'
              : 'No car matches. Clear the search and the age to see all.'}
          </p>
        )}
      </section>
      <footer>
        <span data-testid="range">
          {matching === 0 ? 'None' : `${numberOf(query.first + 1, 1)} to ${numberOf(last, 1)}`} of{' '}
          {numberOf(matching, 1)}
        </span>
        <button
          type="button"
          class="btn"
          disabled={query.first === 0}
          onClick={() => change({ first: Math.max(0, query.first - ROWS_PER_PAGE) })}
        >
          Previous
        </button>
        <button
          type="button"
          class="btn"
          disabled={last >= matching}
          onClick={() => change({ first: query.first + ROWS_PER_PAGE })}
        >
          Next
        </button>
      </footer>
    </section>
  );
}

interface HeadOptions {
  readonly column: Column;
  readonly sort: string;
  readonly change: CarsOptions['change'];
}

function Head({ column: { name, key, descending = false }, sort, change }: HeadOptions): JSX.Element {
  if (key === undefined) return <th scope="col">{name}</th>;
  const isSorted = sort.replace('-', '') === key;
  const isDescending = sort.startsWith('-');
  const next = isSorted ? !isDescending : descending;
  return (
    <th scope="col" aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => change({ sort: `${next ? '-' : ''}${key}` })}>
        {name}
        {isSorted && <span aria-hidden="true">{isDescending ? ' ↓' : ' ↑'}</span>}
      </button>
    </th>
  );
}

interface CarRowOptions {
  readonly car: FleetCar;
  readonly chosen: boolean;
  readonly reached: boolean;
  readonly open: () => void;
  readonly toggle: () => void;
  readonly focus: () => void;
  readonly point: () => void;
}

function CarRow({ car, chosen, reached, open, toggle, focus, point }: CarRowOptions): JSX.Element {
  useTopics('second');
  const { vin, heard, electric, fuel, mileage, missing } = car;
  const silence = carNow() - heard;
  const age = ageOfSilence(silence);
  const level = (value: number | undefined): string => (value === undefined ? '' : `${numberOf(value, 1)} %`);
  return (
    <tr
      data-row={vin}
      class={age}
      aria-selected={chosen}
      tabIndex={reached ? 0 : -1}
      onClick={open}
      onFocus={focus}
      onMouseEnter={point}
    >
      <td>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Choose ${vin}`}
          checked={chosen}
          onClick={(event) => event.stopPropagation()}
          onChange={toggle}
        />
      </td>
      <td class="heard">
        <AgeMark age={age} />
        {silence < 1_000 ? 'now' : ageOf(silence)}
      </td>
      <td class="mono">{vin}</td>
      <td>{doingOf(car, age)}</td>
      <td class="number">{level(electric)}</td>
      <td class="number">{level(fuel)}</td>
      <td class="number">{mileage === undefined ? '' : `${numberOf(mileage, 1)} km`}</td>
      <td class={missing > 0 ? 'number bad' : 'number'}>{numberOf(missing, 1)}</td>
    </tr>
  );
}

/** Describes what the car is doing; in the past tense if the hub has received nothing from it for a minute. */
function doingOf({ speed, charging }: FleetCar, age: Age): string | JSX.Element {
  const now = age === 'minute';
  if (charging !== undefined) return now ? 'Charges' : 'Charged';
  if (speed === undefined) return 'Unknown';
  if (Math.abs(speed) < 1) return now ? 'Stands' : 'Stood';
  return (
    <>
      {now ? 'Drives' : 'Drove'} <span class="together">{numberOf(Math.abs(speed), 1)} km/h</span>
    </>
  );
}
