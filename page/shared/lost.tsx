/** Message about a lost stream: its name, the time and the reason. The page retries automatically. */
import type { JSX } from 'preact';
import { store } from './car-store.ts';
import type { LostStream } from './connection.ts';
import { agoOf } from './format.ts';
import { useTopics } from './hooks.ts';

interface LostOptions extends LostStream {
  readonly what: string;
}

export function Lost({ what, since, reason }: LostOptions): JSX.Element {
  useTopics('second');
  return (
    <p class="strip" role="alert">
      This page lost {what} {agoOf(Date.now() - since)}. It tries again. <small>{reason}</small>
    </p>
  );
}

/** Message for the car that serves the page. A bench serves the page even if its agent is not running. */
export function CarLost(lost: LostStream): JSX.Element {
  useTopics('connection');
  const { agent } = store;
  if (agent !== 'ended' && agent !== 'starts') return <Lost what="the car" {...lost} />;
  return (
    <p class="strip" role="alert">
      {agent === 'starts' ? (
        'The agent is starting. Values follow in a moment.'
      ) : (
        <>
          The agent was killed. Start it again under <a href="#wire">The wire</a>.
        </>
      )}
    </p>
  );
}

interface ViewLostOptions {
  readonly what: string;
  readonly lost: LostStream | undefined;
}

/** Message for the stream of one view. If the car itself cannot be reached, the page's strip already shows this. */
export function ViewLost({ what, lost }: ViewLostOptions): JSX.Element | null {
  useTopics('connection');
  return lost === undefined || store.connection.state !== 'live' ? null : <Lost what={what} {...lost} />;
}
