/** Speed with its last minute, gear, energies, temperatures, and what changed last. */
import type { JSX } from 'preact';
import { SPEED_SPAN, store } from '../car-store.ts';
import { carNow } from '../connection.ts';
import { numberOf, textOf, timeOf, unitOf, wordsOf } from '../format.ts';
import { useTopics, useValue } from '../hooks.ts';

const GEARS = ['Reverse', 'Neutral', 'Ratio1', 'Ratio2', 'Ratio3', 'Ratio4', 'Ratio5', 'Ratio6', 'Ratio7', 'Ratio8'];
const ELECTRIC = 'energies.Electric';
const FUEL = 'energies.Fuel';
const THERMIC = 'engines.Thermic.extension.thermic';

export function Gauges(): JSX.Element {
  return (
    <section class="panel gauges" aria-labelledby="motion-title">
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

const WIDTH = 420;
const HEIGHT = 92;

function SpeedLine(): JSX.Element {
  useTopics('speed', 'second');
  const now = carNow();
  const highest = store.speeds.reduce((most, [, speed]) => Math.max(most, speed), 0);
  const top = Math.max(40, Math.ceil(highest / 40) * 40);
  const x = (at: number): number => Math.max(0, WIDTH - ((now - at) / SPEED_SPAN) * WIDTH);
  const y = (speed: number): number => HEIGHT - (Math.min(top, Math.max(0, speed)) / top) * HEIGHT;
  const points = store.speeds.map(([at, speed]) => `${x(at).toFixed(1)} ${y(speed).toFixed(1)}`);
  const last = store.speeds.at(-1);
  if (last !== undefined) points.push(`${WIDTH} ${y(last[1]).toFixed(1)}`);
  return (
    <svg
      class="line"
      viewBox={`-34 -8 ${WIDTH + 44} ${HEIGHT + 28}`}
      role="img"
      aria-label={`Speed of the last minute, at most ${numberOf(highest, 0.1)} km/h.`}
    >
      {[0, top / 2, top].map((speed) => (
        <g key={speed}>
          <path class="grid" d={`M0 ${y(speed)}H${WIDTH}`} />
          <text class="axis" x="-8" y={y(speed) + 4} text-anchor="end">
            {speed}
          </text>
        </g>
      ))}
      {[60, 40, 20].map((ago) => (
        <text key={ago} class="axis" x={x(now - ago * 1000)} y={HEIGHT + 16}>{`−${ago} s`}</text>
      ))}
      {points.length > 1 && <path class="curve" d={`M${points.join('L')}`} />}
      {last !== undefined && <circle class="now" cx={WIDTH} cy={y(last[1])} r="4" />}
    </svg>
  );
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

function Temperatures(): JSX.Element | null {
  useTopics('connection', ...temperatures.map(([path]) => path));
  const known = temperatures.flatMap(([path, label]) => {
    const found = store.value(path);
    return typeof found?.value === 'number' ? [{ label, value: found.value, stale: store.isStale(found) }] : [];
  });
  if (known.length === 0) return null;
  const x = (value: number): number => ((Math.min(120, Math.max(-30, value)) + 30) / 150) * 300;
  return (
    <div class="group">
      <div class="gauge wide">
        <span class="label">Temperatures</span>
        <svg
          class="scale"
          viewBox="-6 0 312 30"
          role="img"
          aria-label={known.map(({ label, value }) => `${label} ${numberOf(value, 1)} °C`).join(', ')}
        >
          <path class="rail" d="M0 8H300" />
          {[0, 50, 100].map((value) => (
            <text key={value} class="axis" x={x(value)} y="27" text-anchor="middle">{`${value} °C`}</text>
          ))}
          {known.map(({ label, value, stale }) => (
            <circle key={label} class={stale ? 'dot stale' : `dot ${label}`} cx={x(value)} cy="8" r="5" />
          ))}
        </svg>
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

function Reading({ path, label }: { readonly path: string; readonly label: string }): JSX.Element | null {
  const found = useValue(path);
  if (found === undefined) return null;
  const { unit, resolution } = store.descriptions.get(path) ?? {};
  // Nobody reads parts of a revolution at a glance; the list of values has them.
  const shown = unit === 'rpm' ? 1 : resolution;
  return (
    <div class={store.isStale(found) ? 'gauge stale' : 'gauge'}>
      <span class="label">{label}</span>
      <span class="value wide">
        <b>{textOf(found.value, shown)}</b> {unitOf(unit)}
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
        <ol>
          {store.named.slice(0, 8).map(({ path, before, after, at }) => (
            <li key={`${path} ${at}`}>
              <time>{timeOf(at)}</time>
              <span class="what">{wordsOf(path)}</span>
              <span class="step">
                <span class="before">{textOf(before)}</span> → {textOf(after)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
