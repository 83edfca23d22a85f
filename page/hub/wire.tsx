/** Message numbers of one car: those that arrived at the hub, that the car gave up, and that are missing. */
import type { JSX } from 'preact';
import { classes } from '../../protocol/classes.ts';
import { usePolled } from '../shared/hooks.ts';
import { NumbersPanel } from '../shared/numbers-panel.tsx';

const POLL_INTERVAL_MS = 1_000;

type Runs = readonly (readonly [first: number, last: number])[];

interface Numbers {
  /** Reason why numbers are still missing. Omitted if unknown. */
  readonly trouble?: string;
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

export function HubWirePanels({ vin }: { readonly vin: string }): JSX.Element {
  const { data, fault } = usePolled<Numbers>(`/vigie/v1/vehicles/${encodeURIComponent(vin)}/numbers`, POLL_INTERVAL_MS);
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
      {data.trouble !== undefined && (
        <p class="panel reading bad" data-testid="trouble">
          {data.trouble}
        </p>
      )}
      <NumbersPanel
        missing={missing}
        testId="missing of the car"
        note="every message has one; the hub sees a gap at once"
        explained={{
          none: 'Every number arrived, or the car said that it never comes.',
          some: 'The car sends them again, or says that they never come. What it sent before there was a hub stays missing.',
        }}
        label="Numbers by class"
        columns={['Arrived', 'Given up', 'Missing', ...(missing === 0 ? [] : ['Which are missing'])]}
        rows={data.classes.map((one) => ({
          name: classes[one.class]?.name ?? one.class,
          kinds: one.kinds,
          cells: [
            ...[countOf(one.arrived), countOf(one.givenUp), countOf(one.missing)],
            ...(missing === 0 ? [] : [listOf(one.missing)]),
          ],
          bad: one.missing.length > 0 ? 'Missing' : undefined,
        }))}
      />
    </div>
  );
}

function listOf(runs: Runs): string {
  const shown = runs.slice(0, 3).map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  return shown.join(', ') + (runs.length > 3 ? ' …' : '');
}
