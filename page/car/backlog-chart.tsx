/** Chart of the number of waiting messages over time. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { carNow } from '../shared/connection.ts';
import { ageOf, numberOf, timeOf } from '../shared/format.ts';
import { useTopics, useWidth } from '../shared/hooks.ts';
import { Backlog, type Outage } from './backlog.ts';

const HEIGHT_PX = 120;
/** Space for numbers on the left; at the bottom, for times and half a line. */
const LEFT_PX = 44;
const BELOW_PX = 20;
const ABOVE_PX = 8;

/** Backlog of the car that serves the page. Updated even while another view is shown. */
const backlog = new Backlog();
store.listen('link', () => {
  if (store.link !== undefined) backlog.take(carNow(), store.link);
});

export function BacklogChart(): JSX.Element {
  useTopics('link', 'second');
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const now = carNow();
  const { samples, outage } = backlog;
  const [from, to] = backlog.span(now);
  const most = samples.reduce((highest, [, waiting]) => Math.max(highest, waiting), outage?.most ?? 0);
  const top = Math.max(10, Math.ceil(most / 10) * 10);
  const x = (at: number): number =>
    LEFT_PX + Math.min(1, Math.max(0, (at - from) / (to - from))) * (width - LEFT_PX - 4);
  const y = (waiting: number): number => HEIGHT_PX - BELOW_PX - (waiting / top) * (HEIGHT_PX - BELOW_PX - ABOVE_PX);
  // A number of messages is valid until the next one.
  const steps = samples.map(([at, waiting]) => `H${x(at).toFixed(1)}V${y(waiting).toFixed(1)}`);
  const [first] = samples;
  const words = sentenceOf(outage, most);
  return (
    <section class="panel" aria-labelledby="backlog-title">
      <header>
        <h2 id="backlog-title">Messages that wait</h2>
        <span class="note">{outage === undefined ? 'last 2 min' : 'the last outage, until the next one'}</span>
      </header>
      <p class="remark" data-testid="outage" aria-hidden="true">
        {words}
      </p>
      <div class="backlog" ref={place}>
        <svg width={width} height={HEIGHT_PX} role="img" aria-label={words}>
          {outage !== undefined && (
            <rect
              class="outage"
              x={x(outage.from)}
              y={ABOVE_PX}
              width={x(outage.to ?? to) - x(outage.from)}
              height={HEIGHT_PX - BELOW_PX - ABOVE_PX}
            />
          )}
          {[0, top / 2, top].map((waiting) => (
            <g key={waiting}>
              <path class="grid" d={`M${LEFT_PX} ${y(waiting)}H${width - 4}`} />
              <text class="axis" x={LEFT_PX - 8} y={y(waiting) + 4} text-anchor="end">
                {numberOf(waiting, 1)}
              </text>
            </g>
          ))}
          {first !== undefined && (
            <path class="curve" d={`M${x(first[0]).toFixed(1)} ${y(first[1]).toFixed(1)}${steps.join('')}H${x(to)}`} />
          )}
          <text class="axis" x={LEFT_PX} y={HEIGHT_PX - 4}>
            {timeOf(from)}
          </text>
          <text class="axis" x={width - 4} y={HEIGHT_PX - 4} text-anchor="end">
            {timeOf(to)}
          </text>
        </svg>
      </div>
    </section>
  );
}

function sentenceOf(outage: Outage | undefined, most: number): string {
  if (outage === undefined) return `No outage since this page was opened. At most ${messages(most)} waited.`;
  const { from, to, drained } = outage;
  const began = `The broker was away from ${timeOf(from)}`;
  if (to === undefined) return `${began} on, and is not back. At most ${messages(outage.most)} waited.`;
  const whole = `${began} for ${ageOf(to - from)}. At most ${messages(outage.most)} waited;`;
  if (drained === undefined) return `${whole} they are being sent.`;
  return `${whole} all were sent within ${ageOf(Math.max(1000, drained - to))}.`;
}

function messages(count: number): string {
  return count === 1 ? '1 message' : `${numberOf(count, 1)} messages`;
}
