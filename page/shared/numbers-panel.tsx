/** Table of message numbers by class, and the number of missing ones, for a car's outbox or arrivals at the hub. */
import type { JSX } from 'preact';
import { numberOf } from './format.ts';

interface NumbersPanelOptions {
  /** Title. Default: Numbers. */
  readonly title?: string;
  /** Number of missing messages in all classes. */
  readonly missing: number;
  readonly testId: string;
  readonly note: string;
  /** Explanations, for the case that numbers are missing and for a complete list. */
  readonly explained: { readonly some: string; readonly none: string };
  readonly label: string;
  /** Headings of the columns that follow class and kinds. */
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly name: string | number;
    readonly kinds: readonly string[];
    /** Cells in the order of the columns. */
    readonly cells: readonly (number | string)[];
    /** Column whose cell shows a fault. */
    readonly bad?: string | undefined;
  }[];
}

export function NumbersPanel({
  title = 'Numbers',
  missing,
  testId,
  note,
  explained,
  label,
  columns,
  rows,
}: NumbersPanelOptions): JSX.Element {
  return (
    <section class="panel" aria-labelledby={`${title}-title`}>
      <header>
        <h2 id={`${title}-title`}>{title}</h2>
        <span class="note">{note}</span>
      </header>
      <p class="missing">
        Missing <b data-testid={testId}>{numberOf(missing, 1)}</b>
        <span class="note">{missing === 0 ? explained.none : explained.some}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach */}
      <section class="sideways" tabIndex={0} aria-label={label}>
        <table>
          <thead>
            <tr>
              {['Class', 'Kinds', ...columns].map((name) => (
                <th key={name} scope="col" class={name === 'Kinds' ? 'wide' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, kinds, cells, bad }) => (
              <tr key={name}>
                <th scope="row">
                  {name} <small class="narrow">{kinds.join(', ')}</small>
                </th>
                <td class="wide">{kinds.join(', ')}</td>
                {cells.map((cell, index) => (
                  <td key={columns[index]} class={columns[index] === bad ? 'number bad' : 'number'}>
                    {typeof cell === 'number' ? numberOf(cell, 1) : cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
