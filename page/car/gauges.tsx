/** Speed with its last minute, gear, energies, temperatures and latest changes. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SPEED_SPAN_MS, store } from '../shared/car-store.ts';
import { carNow } from '../shared/connection.ts';
import { numberOf, stepOf, textOf, timeOf, unitOf } from '../shared/format.ts';
import { useTopics, useValue, useWidth } from '../shared/hooks.ts';
import { readSpeeds } from '../shared/records.ts';
import { languageOfNames, pathInWords, valueInWords } from '../shared/words.ts';

const GEARS = ['Reverse', 'Neutral', 'Ratio1', 'Ratio2', 'Ratio3', 'Ratio4', 'Ratio5', 'Ratio6', 'Ratio7', 'Ratio8'];
const ELECTRIC = 'energies.Electric';
const FUEL = 'energies.Fuel';
const THERMIC = 'engines.Thermic.extension.thermic';

export function Gauges(): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach
    <section class="panel gauges" aria-labelledby="motion-title" tabIndex={0}>
      <header>
        <h2 id="motion-title">Motion and energy</h2>
        <span class="note">last 60 s</span>
      </header>
      <Speed />
      <Gear />
      <div class="group">
        <Level path={`${ELECTRIC}.level`} label="Battery" range={`${ELECTRIC}.autonomy`} fill="live" />
        <Level path={`${FUEL}.level`} label="Fuel" range={`${FUEL}.autonomy`} fill="fuel" />
      </div>
      <Temperatures />
      <div class="group">
        <Reading path="odometer.mileage" label="Odometer" />
        <Reading path="engines.Electric.speed" label="Motor" />
        <Reading path="engines.Thermic.speed" label="Engine" />
        <Reading path="battery.voltage" label="12 V battery" />
      </div>
      <Changes />
    </section>
  );
}

function Speed(): JSX.Element {
  const speed = useValue('kinetic.speed');
  const known = speed !== undefined && typeof speed.value === 'number';
  const stale = speed === undefined || store.isStale(speed);
  return (
    <div class="speed">
      <p class={stale ? 'big stale' : 'big'}>
        <span data-testid="speed">{known ? numberOf(Math.abs(speed.value as number), 0.1) : 'Unknown'}</span>
        {known && <small>km/h</small>}
      </p>
      <SpeedLine />
    </div>
  );
}

const LINE_HEIGHT_PX = 92;
/** Space around the line for its axes. */
const LINE_MARGINS_PX = { left: 34, right: 10, top: 8, below: 20 };

function SpeedLine(): JSX.Element {
  useTopics('speed', 'second');
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place) - LINE_MARGINS_PX.left - LINE_MARGINS_PX.right;
  const fault = useEarlierSpeeds();
  const now = carNow();
  const highest = store.speeds.reduce((most, [, speed]) => Math.max(most, speed), 0);
  const top = Math.max(40, Math.ceil(highest / 40) * 40);
  const x = (at: number): number => Math.min(width, Math.max(0, width - ((now - at) / SPEED_SPAN_MS) * width));
  const y = (speed: number): number => LINE_HEIGHT_PX - (Math.min(top, Math.max(0, speed)) / top) * LINE_HEIGHT_PX;
  const points = store.speeds.map(([at, speed]) => `${x(at).toFixed(1)} ${y(speed).toFixed(1)}`);
  const last = store.speeds.at(-1);
  if (last !== undefined) points.push(`${width} ${y(last[1]).toFixed(1)}`);
  return (
    <div class="line" ref={place}>
      <svg
        width={width + LINE_MARGINS_PX.left + LINE_MARGINS_PX.right}
        height={LINE_HEIGHT_PX + LINE_MARGINS_PX.top + LINE_MARGINS_PX.below}
        viewBox={`${-LINE_MARGINS_PX.left} ${-LINE_MARGINS_PX.top} ${width + LINE_MARGINS_PX.left + LINE_MARGINS_PX.right} ${LINE_HEIGHT_PX + LINE_MARGINS_PX.top + LINE_MARGINS_PX.below}`}
        role="img"
        aria-label={`Speed of the last minute, at most ${numberOf(highest, 0.1)} km/h.`}
      >
        {[0, top / 2, top].map((speed) => (
          <g key={speed}>
            <path class="grid" d={`M0 ${y(speed)}H${width}`} />
            <text class="axis" x="-8" y={y(speed) + 4} text-anchor="end">
              {speed}
            </text>
          </g>
        ))}
        {[60, 40, 20].map((ago) => (
          <text key={ago} class="axis" x={x(now - ago * 1000)} y={LINE_HEIGHT_PX + 16}>{`−${ago} s`}</text>
        ))}
        {points.length > 1 && <path class="curve" d={`M${points.join('L')}`} />}
        {last !== undefined && <circle class="now" cx={width} cy={y(last[1])} r="4" />}
      </svg>
      {fault !== undefined && <p class="note">The line begins when this page was opened: {fault}</p>}
    </div>
  );
}

/** Adds the speeds that were recorded before the page was opened. Returns the reason if that is not possible. */
function useEarlierSpeeds(): string | undefined {
  const [fault, setFault] = useState<string>();
  const vin = store.car?.vin;
  useEffect(() => {
    if (vin === undefined) return;
    let shown = true;
    readSpeeds(SPEED_SPAN_MS).then(
      (speeds) => shown && store.addEarlierSpeeds(speeds),
      ({ message }: Error) => shown && setFault(message),
    );
    return () => {
      shown = false;
    };
  }, [vin]);
  return fault;
}

function Gear(): JSX.Element | null {
  const gear = useValue('transmission.gearbox.ratio');
  if (gear === undefined) return null;
  const stale = store.isStale(gear);
  const name = GEARS.includes(String(gear.value)) ? gearOf(String(gear.value)) : 'unknown';
  return (
    <div class="group">
      <div class="gauge">
        <span class="label">Gear</span>
        <span class={stale ? 'gears stale' : 'gears'} role="img" aria-label={`Gear ${name}`}>
          {GEARS.map((one) => (
            <span key={one} class={one === gear.value ? 'on' : ''}>
              {gearOf(one)}
            </span>
          ))}
        </span>
      </div>
    </div>
  );
}

function gearOf(ratio: string): string {
  return ratio.startsWith('Ratio') ? ratio.slice(5) : ratio.slice(0, 1);
}

interface LevelOptions {
  readonly path: string;
  readonly label: string;
  readonly range: string;
  readonly fill: string;
}

function Level({ path, label, range, fill }: LevelOptions): JSX.Element | null {
  const level = useValue(path);
  const left = useValue(range);
  if (level === undefined || typeof level.value !== 'number') return null;
  const stale = store.isStale(level);
  return (
    <div class={stale ? 'gauge stale' : 'gauge'}>
      <span class="label">{label}</span>
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="4" />
        <rect class={stale ? 'hollow' : fill} width={Math.min(100, Math.max(0, level.value))} height="4" />
      </svg>
      <span class="value">
        <b>{numberOf(level.value, 0.1)}</b> %
        {typeof left?.value === 'number' && <small>{numberOf(left.value, 1)} km left</small>}
      </span>
    </div>
  );
}

const temperatures = [
  ['environment.air.temp', 'outside'],
  [`${THERMIC}.oil.temp`, 'oil'],
  [`${THERMIC}.coolant.temp`, 'coolant'],
] as const;

/** Radius of a dot. Half of the dot extends beyond each end of its scale. */
const DOT_RADIUS_PX = 6;

function Temperatures(): JSX.Element | null {
  useTopics('connection', ...temperatures.map(([path]) => path));
  const known = temperatures.flatMap(([path, label]) => {
    const found = store.value(path);
    return typeof found?.value === 'number' ? [{ label, value: found.value, stale: store.isStale(found) }] : [];
  });
  if (known.length === 0) return null;
  return (
    <div class="group">
      <div class="gauge wide">
        <span class="label">Temperatures</span>
        <Scale known={known} />
        <ul class="legend">
          {known.map(({ label, value, stale }) => (
            <li key={label} class={stale ? 'stale' : ''}>
              <i class={`dot ${label}`} aria-hidden="true" />
              {label} <b>{numberOf(value, 1)}</b> °C
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

interface Temperature {
  readonly label: string;
  readonly value: number;
  readonly stale: boolean;
}

function Scale({ known }: { readonly known: readonly Temperature[] }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place) - 2 * DOT_RADIUS_PX;
  const x = (value: number): number => ((Math.min(120, Math.max(-30, value)) + 30) / 150) * width;
  return (
    <div class="scale" ref={place}>
      <svg
        width={width + 2 * DOT_RADIUS_PX}
        height="30"
        viewBox={`${-DOT_RADIUS_PX} 0 ${width + 2 * DOT_RADIUS_PX} 30`}
        role="img"
        aria-label={known.map(({ label, value }) => `${label} ${numberOf(value, 1)} °C`).join(', ')}
      >
        <path class="rail" d={`M0 8H${width}`} />
        {[0, 50, 100].map((value) => (
          <text key={value} class="axis" x={x(value)} y="27" text-anchor="middle">{`${value} °C`}</text>
        ))}
        {known.map(({ label, value, stale }) => (
          <circle key={label} class={stale ? 'dot stale' : `dot ${label}`} cx={x(value)} cy="8" r="5" />
        ))}
      </svg>
    </div>
  );
}

function Reading({ path, label }: { readonly path: string; readonly label: string }): JSX.Element | null {
  const found = useValue(path);
  if (found === undefined) return null;
  const { unit, resolution } = store.descriptions.get(path) ?? {};
  return (
    <div class={store.isStale(found) ? 'gauge stale' : 'gauge'}>
      <span class="label">{label}</span>
      <span class="value wide">
        <b>{textOf(found.value, stepOf(unit, resolution))}</b> {unitOf(unit)}
      </span>
    </div>
  );
}

function Changes(): JSX.Element {
  useTopics('named');
  return (
    <div class="group changes">
      <h3>What changed last</h3>
      {store.named.length === 0 ? (
        <p class="note">Nothing changed since this page was opened. Doors, gears and lights appear here.</p>
      ) : (
        <ol lang={languageOfNames()}>
          {store.named.slice(0, 8).map(({ path, before, after, at }) => (
            <li key={`${path} ${at}`}>
              <time>{timeOf(at)}</time>
              <span class="what">{pathInWords(path)}</span>
              <span class="step">
                <span class="before">{valueInWords(path, before)}</span> → {valueInWords(path, after)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
