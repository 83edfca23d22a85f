/** The numbers of the messages of one car: what arrived at the hub, what the car gave up, and what is missing. */
import type { JSX } from 'preact';
import { carOfAddress, numberOf } from '../format.ts';
import { usePolled } from '../hooks.ts';

const EVERY = 1_000;

type Runs = readonly (readonly [first: number, last: number])[];

interface Numbers {
  readonly classes: readonly {
    readonly class: number;
    readonly kinds: readonly string[];
    readonly arrived: Runs;
    readonly givenUp: Runs;
    readonly missing: Runs;
  }[];
}

function countOf(runs: Runs): number {
  return runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function HubWirePanels(): JSX.Element {
  const vin = encodeURIComponent(carOfAddress().vin ?? '');
  const { data, fault } = usePolled<Numbers>(`/vigie/v1/vehicles/${vin}/numbers`, EVERY);
  if (data === undefined) {
    return (
      <p class={fault === undefined ? 'panel reading' : 'panel reading bad'}>
        {fault?.message ?? 'Reads the numbers …'}
      </p>
    );
  }
  const missing = data.classes.reduce((sum, one) => sum + countOf(one.missing), 0);
  return (
    <div class="wire-grid">
      <section class="panel" aria-labelledby="numbers-title">
        <header>
          <h2 id="numbers-title">Numbers</h2>
          <span class="note">every message has one; the hub sees a gap at once</span>
        </header>
        <p class="missing">
          Missing <b data-testid="missing of the car">{numberOf(missing, 1)}</b>
          <span class="note">
            {missing === 0
              ? 'Every number arrived, or the car said that it never comes.'
              : 'The car sends them again, or says that they never come. What it sent before there was a hub stays missing.'}
          </span>
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach */}
        <section class="sideways" tabIndex={0} aria-label="Numbers by class">
          <table>
            <thead>
              <tr>
                {['Class', 'Kinds', 'Arrived', 'Given up', 'Missing', 'Which are missing'].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.classes.map((one) => (
                <tr key={one.class}>
                  <th scope="row">{one.class}</th>
                  <td>{one.kinds.join(', ')}</td>
                  <td class="number">{numberOf(countOf(one.arrived), 1)}</td>
                  <td class="number">{numberOf(countOf(one.givenUp), 1)}</td>
                  <td class={one.missing.length > 0 ? 'number bad' : 'number'}>{numberOf(countOf(one.missing), 1)}</td>
                  <td class="number">{listOf(one.missing)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </section>
    </div>
  );
}

function listOf(runs: Runs): string {
  const shown = runs.slice(0, 3).map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  return shown.join(', ') + (runs.length > 3 ? ' …' : '');
}
