/** Hooks for components: stores, the width of an element, and the keyboard. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type CarValue, store, type Topic } from './car-store.ts';
import { followWhileVisible, type LostStream, pollWhileVisible } from './connection.ts';

/** Redraws the component after a change of one of the topics. */
export function useTopics(...topics: readonly (Topic | (string & {}))[]): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const key = topics.join(' ');
  useEffect(() => {
    const ends = key.split(' ').map((topic) => store.listen(topic, () => redraw(undefined as never)));
    // Shows a change that happened after drawing and before listening.
    redraw(undefined as never);
    return () => {
      for (const end of ends) end();
    };
  }, [key]);
}

export function useValue(path: string): CarValue | undefined {
  useTopics(path, 'connection');
  return store.value(path);
}

/** Returns the width of an element in px. A drawing in real pixels has readable text on every screen. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = (): void => setWidth(Math.max(1, Math.round(current.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

export interface Followed<E> {
  /** The newest event with each name. */
  readonly events: Partial<E>;
  /** Set if the stream is lost. The events are then those from before the loss. */
  readonly lost?: LostStream;
}

/** Follows a stream while the view is shown. Returns the newest event with each name. */
export function useStream<E>(path: string): Followed<E> {
  const [followed, setFollowed] = useState<Followed<E>>({ events: {} });
  useEffect(
    () =>
      followWhileVisible({
        path,
        opened: () => setFollowed(({ events }) => ({ events })),
        event: ({ name, data }) => setFollowed((before) => ({ ...before, events: { ...before.events, [name]: data } })),
        lost: ({ message }) =>
          setFollowed(({ events, lost }) => ({
            events,
            lost: { since: lost?.since ?? Date.now(), reason: message },
          })),
      }),
    [path],
  );
  return followed;
}

export interface Polled<T> {
  readonly data?: T;
  /** Reason why the last request failed. The data are then those from before it. */
  readonly fault?: Error;
  /** {@link PolledOptions.again} at the time of the last response. */
  readonly answered?: number;
}

interface PolledOptions {
  /** Changes when the reader signs in: the last response is then invalid. */
  readonly again?: number;
  /** True for data that change only with events: read at each event, and rarely while a stream reports events. */
  readonly byEvents?: boolean;
}

/** Time in ms between two requests for data that change only with events, while a stream reports events. */
const STREAMED_POLL_INTERVAL_MS = 10_000;

/** Polls an address while the view is shown. After `path` has changed, keeps the data until the new path responds. */
export function usePolled<T>(path: string, every: number, options: PolledOptions = {}): Polled<T> {
  const { again = 0, byEvents = false } = options;
  const [polled, setPolled] = useState<Polled<T>>({});
  useEffect(() => {
    setPolled(({ data, answered = again }) => (data === undefined ? {} : { data, answered }));
    return pollWhileVisible<T>({
      path,
      every: () => (byEvents && store.streaming ? STREAMED_POLL_INTERVAL_MS : every),
      ...(byEvents ? { woken: (ask) => store.listen('event', ask) } : {}),
      answered: (data) => setPolled({ data, answered: again }),
      lost: (fault) => setPolled((before) => ({ ...before, fault })),
    });
  }, [path, every, again, byEvents]);
  return polled;
}

export interface Read<T> {
  readonly data?: T;
  readonly fault?: string;
}

/** Delay in ms from an event to the next read of records, because events often arrive together. */
const EVENT_READ_DELAY_MS = 300;

/**
 * Reads records every `every` ms, and soon after a change to one of the topics, while the view is shown and the tab is
 * visible. A different `key` means that the records are different ones.
 */
export function useRecords<T>(
  read: () => Promise<T>,
  every: number,
  key: unknown,
  ...topics: readonly string[]
): Read<T> {
  const [found, setFound] = useState<Read<T>>({});
  useEffect(() => {
    let [ended, timer, isDue] = [false, 0, false];
    const next = async (): Promise<void> => {
      timer = 0;
      isDue = false;
      if (document.visibilityState === 'visible') {
        try {
          const data = await read();
          if (!ended) setFound({ data });
        } catch (error) {
          if (!ended) setFound((before) => ({ ...before, fault: (error as Error).message }));
        }
      }
      if (!ended) timer = window.setTimeout(next, isDue ? EVENT_READ_DELAY_MS : every);
    };
    const happened = (): void => {
      if (isDue) return;
      isDue = true;
      // `timer` is 0 while a read is running.
      if (timer === 0) return;
      clearTimeout(timer);
      timer = window.setTimeout(next, EVENT_READ_DELAY_MS);
    };
    setFound({});
    void next();
    const ends = topics.map((topic) => store.listen(topic, happened));
    return () => {
      ended = true;
      for (const end of ends) end();
      clearTimeout(timer);
    };
  }, [key]);
  return found;
}

/** A list in which Tab reaches one row, and keys that change this row (roving tabindex of the ARIA practices). */
export interface Rows<E extends HTMLElement> {
  /** Element that contains the rows. Each row has its name in `data-row`. */
  readonly list: RefObject<E | null>;
  readonly reached: string | undefined;
  /** Call when a row gets the focus. */
  readonly setFocused: (row: string) => void;
  readonly focus: (row: string | undefined) => void;
  /** Handles the arrow keys, Home and End, and the keys in `more`. */
  readonly key: (event: KeyboardEvent, more: Readonly<Record<string, () => void>>) => void;
}

export function useRows<E extends HTMLElement>(rows: readonly string[]): Rows<E> {
  const [focused, setFocused] = useState<string>();
  const list = useRef<E>(null);
  const reached = focused !== undefined && rows.includes(focused) ? focused : rows[0];
  const focus = (row: string | undefined): void => {
    if (row === undefined) return;
    setFocused(row);
    list.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row)}"]`)?.focus();
  };
  const key = (event: KeyboardEvent, more: Readonly<Record<string, () => void>>): void => {
    const index = rows.indexOf(reached ?? '');
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focus(rows[index + 1]),
      ArrowUp: () => focus(rows[index - 1]),
      Home: () => focus(rows[0]),
      End: () => focus(rows.at(-1)),
      ...more,
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };
  return { list, reached, setFocused, focus, key };
}
