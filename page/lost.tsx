/** What the page no longer hears, since when and why. It tries again by itself. */
import type { JSX } from 'preact';
import { store } from './car-store.ts';
import type { LostStream } from './connection.ts';
import { ageOf } from './format.ts';
import { useTopics } from './hooks.ts';

export function Lost({ what, since, reason }: LostStream & { readonly what: string }): JSX.Element {
  useTopics('second');
  return (
    <p class="strip" role="alert">
      This page lost {what} {ageOf(Date.now() - since)} ago. It tries again. <small>{reason}</small>
    </p>
  );
}

interface ViewLostOptions {
  readonly what: string;
  readonly lost: LostStream | undefined;
}

/** Of the stream of one view. Without the car itself the strip of the page says so. */
export function ViewLost({ what, lost }: ViewLostOptions): JSX.Element | null {
  useTopics('connection');
  return lost === undefined || store.connection.state !== 'live' ? null : <Lost what={what} {...lost} />;
}
