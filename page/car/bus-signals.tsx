/** Bits of the chosen identifier, and the DBC signals in these bits. */
import type { JSX } from 'preact';
import type { BusSignal } from '../../protocol/interface/own/bus.ts';
import { identifierOf, numberOf, unitOf } from '../shared/format.ts';
import { useBus } from './bus-hooks.ts';
import type { Plotted } from './bus-plot.tsx';
import { busStore, choiceOf, type Row } from './bus-store.ts';

/** Number of tints for signals in the bits. Letters distinguish signals that have the same tint. */
const TINTS = 6;

interface SignalsOptions {
  readonly row: Row | undefined;
  readonly plotted: readonly Plotted[];
  readonly toggle: (one: Plotted) => void;
}

export function Signals({ row, plotted, toggle }: SignalsOptions): JSX.Element {
  if (row === undefined) {
    return (
      <section class="panel bus-signals" aria-labelledby="signals-title">
        <header>
          <h2 id="signals-title">Signals</h2>
        </header>
        <p class="none">Choose an identifier to see its bits and signals.</p>
      </section>
    );
  }
  const { identifier, address } = row;
  const { bus, id, extended, message, sender, every, comment, signals } = identifier;
  const facts = [
    `${identifierOf(id, extended)} on ${bus}`,
    ...(sender === undefined ? [] : [`from ${sender}`]),
    ...(every === undefined ? [] : [`every ${every} ms by the DBC`]),
  ];
  return (
    <section class="panel bus-signals" aria-labelledby="signals-title">
      <header>
        <h2 id="signals-title">{message ?? identifierOf(id, extended)}</h2>
        <span class="note">{facts.join(', ')}</span>
      </header>
      {comment !== undefined && <p class="note comment">{comment}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach */}
      <section class="scroll" aria-label="Bits and signals" tabIndex={0}>
        <Bits address={address} signals={signals} />
        <ul class="signals">
          {signals.map((signal, index) => (
            <SignalRow
              key={signal.name}
              letter={letterOf(index)}
              tint={index % TINTS}
              signal={signal}
              address={`${address}/${signal.name}`}
              plotted={plotted.some((one) => one.address === `${address}/${signal.name}`)}
              toggle={() => toggle({ address: `${address}/${signal.name}`, message: message ?? '', signal })}
            />
          ))}
        </ul>
        {signals.length === 0 && <p class="none">No DBC of the profile describes this identifier.</p>}
      </section>
    </section>
  );
}

interface SignalRowOptions {
  readonly letter: string;
  readonly tint: number;
  readonly signal: BusSignal;
  readonly address: string;
  readonly plotted: boolean;
  readonly toggle: () => void;
}

function SignalRow({ letter, tint, signal, address, plotted, toggle }: SignalRowOptions): JSX.Element {
  const { name, unit, comment, selectedBy } = signal;
  return (
    <li>
      <span class={`letter tint-${tint}`} aria-hidden="true">
        {letter}
      </span>
      <span class="signal-name" title={comment}>
        {name}
        {selectedBy !== undefined && <small class="note"> by {selectedBy}</small>}
      </span>
      <Value address={address} signal={signal} unit={unit} />
      <button type="button" class="btn small" aria-pressed={plotted} aria-label={`Plot ${name}`} onClick={toggle}>
        Plot
      </button>
    </li>
  );
}

interface ValueOptions {
  readonly address: string;
  readonly signal: BusSignal;
  readonly unit: string;
}

function Value({ address, signal, unit }: ValueOptions): JSX.Element {
  useBus('values');
  const value = busStore.samples.get(address)?.values.at(-1);
  return (
    <span class="value" data-signal={address}>
      {value === undefined ? '' : (choiceOf(signal, value) ?? numberOf(value, signal.factor))}
      {value !== undefined && choiceOf(signal, value) === undefined && unit !== '' && <small> {unitOf(unit)}</small>}
    </span>
  );
}

/** Shows a row for each byte, with the highest bit on the left. A letter marks the signal of each bit. */
function Bits({ address, signals }: { readonly address: string; readonly signals: readonly BusSignal[] }): JSX.Element {
  useBus(address);
  const row = busStore.rows.get(address);
  const bytes = row?.bytes ?? [];
  const owners = new Map<number, number>();
  // If multiplexed signals share bits, show only the first of them.
  signals.forEach(({ bits }, index) => {
    for (const bit of bits) if (!owners.has(bit)) owners.set(bit, index);
  });
  return (
    <table class="bits mono" aria-label="Bits">
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden">Byte</span>
          </th>
          {[7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (
            <th key={bit} scope="col">
              {bit}
            </th>
          ))}
          <th scope="col">hex</th>
        </tr>
      </thead>
      <tbody>
        {bytes.map((byte, place) => (
          <tr key={place}>
            <th scope="row">{place}</th>
            {[7, 6, 5, 4, 3, 2, 1, 0].map((bit) => {
              const owner = owners.get(place * 8 + bit);
              const one = (byte >> bit) & 1;
              const changed = (((row?.glow[place] ?? 0) >> bit) & 1) === 1;
              const tint = owner === undefined ? '' : ` tint-${owner % TINTS}`;
              return (
                <td key={bit} class={`bit${one === 1 ? ' one' : ''}${changed ? ' glow' : ''}${tint}`}>
                  {one}
                  {owner !== undefined && <sup>{letterOf(owner)}</sup>}
                </td>
              );
            })}
            <td>{byte.toString(16).toUpperCase().padStart(2, '0')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns a to z, then aa, ab and so on. */
function letterOf(index: number): string {
  const letter = String.fromCharCode(97 + (index % 26));
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`;
}
