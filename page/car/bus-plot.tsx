/** Plot of the chosen signals over time, with zoom, cursor and export. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { BusSignal } from '../../protocol/interface/own/bus.ts';
import { carNow } from '../shared/connection.ts';
import { numberOf, timeOf, unitOf } from '../shared/format.ts';
import { useBus } from './bus-hooks.ts';
import { busStore, choiceOf } from './bus-store.ts';
import { columnsOf, csvOf, placeAt } from './plot-data.ts';

export interface Plotted {
  /** Address such as `body/0A8/Speed`. */
  readonly address: string;
  readonly message: string;
  readonly signal: BusSignal;
}

const SPANS = [
  ['30 s', 30_000],
  ['60 s', 60_000],
  ['10 min', 600_000],
] as const;
const HEIGHT_PX = 220;
/** Space for the times below the plot. */
const AXIS_HEIGHT_PX = 32;
/** Space for a time label. */
const LABEL_WIDTH_PX = 84;
/** Line patterns of the series, so that they do not differ only in colour. */
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Displayed period in ms: the newest `span`, or from the first to the second time. */
type Range = { readonly span: number } | { readonly from: number; readonly to: number };

interface PlotOptions {
  readonly plotted: readonly Plotted[];
  readonly toggle: (one: Plotted) => void;
}

export function Plot({ plotted, toggle }: PlotOptions): JSX.Element {
  useBus('values');
  const [range, setRange] = useState<Range>({ span: 60_000 });
  /** Time of the cursor in UTC ms. Undefined for the newest time. */
  const [cursor, setCursor] = useState<number>();
  const columns = columnsOf(plotted.map(({ address }) => busStore.samples.get(address)));
  const [times] = columns;
  const newest = busStore.newest === 0 ? carNow() : busStore.newest;
  const [from, to] = 'span' in range ? [newest - range.span, newest] : [range.from, range.to];
  const moment = cursor ?? newest;
  const zoom = (factor: number): void => {
    const half = ((to - from) / 2) * factor;
    const middle = cursor ?? (from + to) / 2;
    setRange({ from: middle - half, to: middle + half });
  };
  const move = (event: KeyboardEvent): void => {
    const place = placeAt(times, moment);
    const target = {
      ...{ ArrowLeft: place - 1, ArrowRight: place + 1, PageUp: place - 10, PageDown: place + 10 },
      ...{ Home: 0, End: times.length - 1 },
    }[event.key];
    if (target === undefined || times.length === 0) return;
    event.preventDefault();
    setCursor(times[Math.min(Math.max(target, 0), times.length - 1)]);
  };
  const save = (): void => {
    const names = plotted.map(({ message, signal: { name, unit } }) => `${message}.${name}${unit && ` [${unit}]`}`);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([csvOf(names, columns)], { type: 'text/csv' }));
    link.download = 'signals.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <section class="panel bus-plot" aria-labelledby="plot-title">
      <header>
        <h2 id="plot-title">Plot</h2>
        <fieldset class="row-of-buttons">
          <legend class="hidden">What the plot shows</legend>
          {SPANS.map(([name, span]) => (
            <button
              key={name}
              type="button"
              class="btn small"
              aria-pressed={'span' in range && range.span === span}
              onClick={() => {
                setRange({ span });
                setCursor(undefined);
              }}
            >
              {name}
            </button>
          ))}
          <button type="button" class="btn small" onClick={() => zoom(0.5)}>
            Zoom in
          </button>
          <button type="button" class="btn small" onClick={() => zoom(2)}>
            Zoom out
          </button>
          <button type="button" class="btn small" disabled={times.length === 0} onClick={save}>
            Export CSV
          </button>
        </fieldset>
      </header>
      <ul class="legend">
        {plotted.map((one, index) => (
          <li key={one.address}>
            <span class={`swatch series-${index}`} aria-hidden="true" />
            {one.message}.{one.signal.name} <b data-plotted={one.address}>{textAt(one, moment)}</b>
            <button
              type="button"
              class="btn small"
              aria-label={`Remove ${one.signal.name}`}
              onClick={() => toggle(one)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {plotted.length === 0 ? (
        <p class="none">
          Choose Plot beside a signal. Several signals share the plot, which begins then: the car keeps no frames for
          it.
        </p>
      ) : (
        <div
          class="plot"
          role="slider"
          aria-label="Moment in the plot"
          aria-valuemin={times[0] ?? 0}
          aria-valuemax={times.at(-1) ?? 0}
          aria-valuenow={moment}
          aria-valuetext={`${timeOf(moment)}: ${plotted.map((one) => `${one.signal.name} ${textAt(one, moment)}`).join(', ')}`}
          tabIndex={0}
          onKeyDown={move}
        >
          <Canvas
            plotted={plotted}
            columns={columns}
            {...{ from, to, cursor }}
            select={(first, last) => setRange({ from: first, to: last })}
            point={setCursor}
          />
        </div>
      )}
    </section>
  );
}

interface CanvasOptions {
  readonly plotted: readonly Plotted[];
  readonly columns: ReturnType<typeof columnsOf>;
  readonly from: number;
  readonly to: number;
  readonly cursor: number | undefined;
  readonly select: (from: number, to: number) => void;
  readonly point: (moment: number | undefined) => void;
}

function Canvas({ plotted, columns, from, to, cursor, select, point }: CanvasOptions): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  // uPlot's callbacks run later, and must use the data that were drawn last.
  const now = useRef({ from, to, select, point });
  now.current = { from, to, select, point };
  const scheme = useScheme();
  const key = plotted.map(({ address }) => address).join('\n');
  useLayoutEffect(() => {
    const place = host.current as HTMLDivElement;
    const made = new uPlot(optionsOf(plotted, place, now), columns as unknown as uPlot.AlignedData, place);
    plot.current = made;
    // Listens to the mouse itself: uPlot also sends its cursor events when data arrive.
    made.over.addEventListener('mousemove', ({ offsetX }) => now.current.point(made.posToVal(offsetX, 'x')));
    made.over.addEventListener('mouseleave', () => now.current.point(undefined));
    const sized = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT_PX }));
    sized.observe(place);
    return () => {
      sized.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [key, scheme]);
  useLayoutEffect(() => {
    plot.current?.setData(columns as unknown as uPlot.AlignedData);
  }, [columns[0].length, columns[0].at(-1), from, to, key]);
  useLayoutEffect(() => {
    const made = plot.current;
    if (made === undefined || cursor === undefined) return;
    made.setCursor({ left: made.valToPos(cursor, 'x'), top: 10 }, false);
  }, [cursor, from, to, key]);
  return <div ref={host} class="canvas" />;
}

type Now = {
  readonly current: Pick<CanvasOptions, 'from' | 'to' | 'select' | 'point'>;
};

function optionsOf(plotted: readonly Plotted[], place: HTMLElement, now: Now): uPlot.Options {
  const style = getComputedStyle(place);
  const swatches = place.closest('.bus-plot')?.querySelectorAll('.swatch') ?? [];
  const units = [...new Set(plotted.map(({ signal }) => signal.unit))];
  const ink = { stroke: style.color, grid: { stroke: style.borderTopColor, width: 1 }, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT_PX,
    ms: 1,
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: false },
      // Disables uPlot's own handler: a double click resets the zoom of the page, as the period buttons do.
      bind: { dblclick: () => null },
    },
    hooks: {
      setSelect: [
        (made) => {
          const { left, width } = made.select;
          if (width < 4) return;
          now.current.select(made.posToVal(left, 'x'), made.posToVal(left + width, 'x'));
          made.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
    scales: {
      x: { time: true, range: () => [now.current.from, now.current.to] },
      ...Object.fromEntries(units.map((unit) => [`y ${unit}`, {}])),
    },
    axes: [
      {
        ...ink,
        space: LABEL_WIDTH_PX,
        size: AXIS_HEIGHT_PX,
        values: (_, splits) => splits.map((moment) => new Date(moment).toLocaleTimeString()),
      },
      // The legend shows the values in further units.
      ...units.slice(0, 2).map((unit, index) => ({
        ...ink,
        scale: `y ${unit}`,
        side: index === 0 ? (3 as const) : (1 as const),
        ...(index === 0 ? {} : { grid: { show: false } }),
        ...(unit === '' ? {} : { label: unitOf(unit), labelSize: 18 }),
        size: 56,
      })),
    ],
    series: [
      {},
      ...plotted.map(({ signal }, index) => ({
        label: signal.name,
        scale: `y ${signal.unit}`,
        stroke: getComputedStyle(swatches[index] ?? place).color,
        width: 1.5,
        dash: [...(DASHES[index % DASHES.length] ?? [])],
        // A value is valid until the next one.
        paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
        points: { show: false },
      })),
    ],
  };
}

/** Returns a number that grows when the colours change. */
function useScheme(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const changed = (): void => setCount((before) => before + 1);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return count;
}

/** Formats the value at this time. */
function textAt({ address, signal }: Plotted, moment: number): string {
  const samples = busStore.samples.get(address);
  const value = samples?.values[placeAt(samples.times, moment)];
  if (value === undefined) return 'unknown';
  const unit = unitOf(signal.unit);
  return choiceOf(signal, value) ?? `${numberOf(value, signal.factor)}${unit === '' ? '' : ` ${unit}`}`;
}
