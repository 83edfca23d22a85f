/** View 2, the bus: identifiers with their changing bits, their signals, and a plot of chosen signals. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { MOST_SIGNALS } from '../../protocol/interface/own/bus-access.ts';
import { Refused } from '../shared/connection.ts';
import { identifierOf, numberOf } from '../shared/format.ts';
import { useRows } from '../shared/hooks.ts';
import { ViewLost } from '../shared/lost.tsx';
import { useBus } from './bus-hooks.ts';
import { Plot, type Plotted } from './bus-plot.tsx';
import { Signals } from './bus-signals.tsx';
import { busStore, digitsOf, type Row } from './bus-store.ts';

/** Largest number of rows that are drawn. A filter shows the others. */
const MAX_ROWS = 300;
/** Largest number of bytes in a row. The table of bits shows all bytes. */
const MAX_SHOWN_BYTES = 8;
/** Largest number of signals in one plot. */
const MAX_PLOTTED_SIGNALS = 8;

/** Adds keys: Space pauses the stream unless it has another function there; Escape clears selection and filter. */
function useBusKeys(clear: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') clear();
      if (event.key !== ' ' || event.target !== document.body) return;
      event.preventDefault();
      busStore.pause(!busStore.paused);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

export function BusPanels(): JSX.Element {
  useBus('list');
  useEffect(() => busStore.follow(), []);
  const [chosen, setChosen] = useState<string>();
  const [plotted, setPlotted] = useState<readonly Plotted[]>([]);
  const { privacy, fault, lost, rows } = busStore;
  const row = chosen === undefined ? undefined : rows.get(chosen);
  const wanted = [...plotted.map(({ address }) => address), ...(row === undefined ? [] : addressesOf(row))];
  const followed = [...new Set(wanted)].slice(0, MOST_SIGNALS).sort().join('\n');
  useEffect(() => busStore.followSignals(followed === '' ? [] : followed.split('\n')), [followed]);
  const toggle = (one: Plotted): void => {
    const without = plotted.filter(({ address }) => address !== one.address);
    setPlotted(without.length < plotted.length ? without : [...plotted, one].slice(-MAX_PLOTTED_SIGNALS));
  };
  // Keep the existing rows, below a strip that shows the reason.
  if (fault instanceof Refused && privacy?.shown !== true) {
    return (
      <p class="panel reading" role="alert">
        The car does not show its buses: {fault.message}.
        {fault.requestId !== undefined && <small> {fault.requestId}</small>}
      </p>
    );
  }
  const strip = <ViewLost what="the buses" lost={lost} />;
  if (privacy === undefined) {
    return (
      <>
        {strip}
        <p class="panel reading">Reads the buses …</p>
      </>
    );
  }
  if (!privacy.shown) return <p class="panel reading">{privacy.reason}</p>;
  return (
    <div class="bus-grid">
      {strip}
      <Identifiers chosen={chosen} choose={setChosen} />
      <Signals row={row} plotted={plotted} toggle={toggle} />
      <Plot plotted={plotted} toggle={toggle} />
    </div>
  );
}

interface IdentifierOptions {
  readonly chosen: string | undefined;
  readonly choose: (address: string | undefined) => void;
}

function Identifiers({ chosen, choose }: IdentifierOptions): JSX.Element {
  useBus('list');
  const [filter, setFilter] = useState('');
  useBusKeys(() => {
    setFilter('');
    choose(undefined);
  });
  const { rows, left, paused } = busStore;
  // Sorted by identifier, so that rows do not move.
  const found = useMemo(
    () =>
      [...rows.values()]
        .filter((row) => isShown(row, filter))
        .sort((a, b) => a.identifier.bus.localeCompare(b.identifier.bus) || a.identifier.id - b.identifier.id),
    [[...rows.keys()].join(), filter],
  );
  const shown = found.slice(0, MAX_ROWS).map(({ address }) => address);
  const { list, reached, setFocused, focus, key: move } = useRows<HTMLTableSectionElement>(shown);
  const key = (event: KeyboardEvent): void => {
    const index = shown.indexOf(reached ?? '');
    const page = 12;
    move(event, {
      PageDown: () => focus(shown[Math.min(index + page, shown.length - 1)]),
      PageUp: () => focus(shown[Math.max(index - page, 0)]),
      Enter: () => reached !== undefined && choose(reached),
      ' ': () => reached !== undefined && choose(reached),
    });
  };
  return (
    <section class="panel bus-list" aria-labelledby="identifiers-title">
      <header>
        <h2 id="identifiers-title">Identifiers</h2>
        <span class="note">
          {rows.size} {rows.size === 1 ? 'identifier' : 'identifiers'}
          {left && ', and more than the car lists'}
          {found.length > MAX_ROWS && `, the first ${MAX_ROWS} of ${found.length}`}
        </span>
      </header>
      <div class="find">
        <input
          id="filter"
          class="field"
          type="search"
          placeholder="Filter: 0A8, MOTION, Speed"
          aria-label="Filter identifiers"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <button type="button" class="btn" aria-pressed={paused} onClick={() => busStore.pause(!paused)}>
          Pause
        </button>
      </div>
      <section class="scroll" aria-label="List of identifiers" tabIndex={shown.length === 0 ? 0 : -1}>
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the ARIA pattern of grids, on a table */}
        <table role="grid" aria-label="Identifiers" onKeyDown={key}>
          <thead>
            <tr>
              {['ID', 'Message', 'Count', 'Period', 'Bytes', 'Signals'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={list}>
            {shown.map((address) => (
              <IdentifierRow
                key={address}
                address={address}
                chosen={chosen === address}
                reached={reached === address}
                choose={() => choose(address)}
                focus={() => setFocused(address)}
              />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && (
          <p class="none">
            {rows.size === 0 ? 'No frame came yet.' : 'No identifier matches. Clear the filter to see all.'}
          </p>
        )}
      </section>
    </section>
  );
}

interface RowOptions {
  readonly address: string;
  readonly chosen: boolean;
  readonly reached: boolean;
  readonly choose: () => void;
  readonly focus: () => void;
}

function IdentifierRow({ address, chosen, reached, choose, focus }: RowOptions): JSX.Element | null {
  useBus(address);
  const row = busStore.rows.get(address);
  if (row === undefined) return null;
  const { identifier, shown, bytes, glow } = row;
  const { bus, id, extended, message, sender, signals } = identifier;
  return (
    <tr
      data-row={address}
      aria-selected={chosen}
      tabIndex={reached ? 0 : -1}
      onClick={choose}
      onFocus={focus}
      title={`${bus}${sender === undefined ? '' : `, from ${sender}`}`}
    >
      <td class="mono">{identifierOf(id, extended)}</td>
      <td class="message">{message ?? <span class="note">not in the DBC</span>}</td>
      <td class="number">{numberOf(shown.count, 1)}</td>
      <td class="number">{shown.period === undefined ? '' : `${numberOf(Math.round(shown.period), 1)} ms`}</td>
      <td class="mono bytes">
        {bytes.slice(0, MAX_SHOWN_BYTES).map((byte, place) => (
          <Byte key={place} byte={byte} glow={glow[place] ?? 0} />
        ))}
        {bytes.length > MAX_SHOWN_BYTES && <span class="note"> +{bytes.length - MAX_SHOWN_BYTES}</span>}
      </td>
      <td class="names">{signals.map(({ name }) => name).join(', ')}</td>
    </tr>
  );
}

/** Shows two digits, and below them the changed bits with the highest on the left. */
function Byte({ byte, glow }: { readonly byte: number; readonly glow: number }): JSX.Element {
  let path = '';
  for (let bit = 0; bit < 8; bit++) if (((glow >> bit) & 1) === 1) path += `M${7 - bit} 0h1v1h-1z`;
  return (
    <span class={glow === 0 ? 'byte' : 'byte glow'}>
      {byte.toString(16).toUpperCase().padStart(2, '0')}
      <svg viewBox="0 0 8 1" preserveAspectRatio="none" aria-hidden="true">
        <path d={path} />
      </svg>
    </span>
  );
}

function addressesOf({ address, identifier }: Row): readonly string[] {
  return identifier.signals.map(({ name }) => `${address}/${name}`);
}

function isShown({ identifier }: Row, filter: string): boolean {
  const { bus, message = '', sender = '', signals } = identifier;
  const names = signals.map(({ name }) => name).join(' ');
  const text = `0x${digitsOf(identifier)} ${bus} ${message} ${sender} ${names}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
