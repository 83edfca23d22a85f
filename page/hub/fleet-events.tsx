/** The newest events of cars, as they arrive at the hub. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { FleetEvents as Events, FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { addressOfCar } from '../shared/addresses.ts';
import { timeOf } from '../shared/format.ts';
import { usePolled } from '../shared/hooks.ts';
import { labelOfEvent } from './event-words.ts';

/** Time in ms between two reads if no stream reports changes. */
const POLL_INTERVAL_MS = 1_000;
const MAX_ROWS = 60;

export function FleetEvents(): JSX.Element {
  const { data } = usePolled<Events>('/vigie/v1/events', POLL_INTERVAL_MS, { byEvents: true });
  const held = useRef<Events | undefined>(undefined);
  const [isHeld, setHeld] = useState(false);
  if (!isHeld) held.current = data;
  const events = held.current?.events ?? [];
  return (
    <section class="panel fleet-events" aria-labelledby="events-title">
      <header>
        <h2 id="events-title">Events</h2>
        <span class="note">as they arrive</span>
        <button type="button" class="btn" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
          Pause
        </button>
      </header>
      {events.length === 0 ? (
        <p class="none">No event yet: cars have sent only their values.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach
        <ul class="scroll" aria-label="Events" tabIndex={0}>
          {events.slice(0, MAX_ROWS).map((event) => (
            <Row key={event.id} event={event} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ event }: { readonly event: FleetEvent }): JSX.Element {
  const { vin, received, at } = event;
  const { text, mark } = labelOfEvent(event);
  return (
    <li>
      <time title={new Date(received).toISOString()}>{timeOf(received)}</time>
      <i class={`mark ${mark}`} aria-hidden="true" />
      <span>
        <a class="mono" href={addressOfCar(vin, 'journey')}>
          {vin}
        </a>{' '}
        {text}
        {received - at > 60_000 && <span class="note"> at {timeOf(at)}</span>}
      </span>
    </li>
  );
}
