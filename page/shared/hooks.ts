/** How components follow the stores, their own width, and the keyboard. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type CarValue, store, type Topic } from './car-store.ts';
import { followWhileVisible, type LostStream, pollWhileVisible } from './connection.ts';

/** Draws the component again when one of the topics has changed. */
export function useTopics(...topics: readonly (Topic | (string & {}))[]): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const key = topics.join(' ');
  useEffect(() => {
    const ends = key.split(' ').map((topic) => store.listen(topic, () => redraw(undefined as never)));
    // A change between drawing and listening.
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

/** Width of an element, px: a drawing in its own pixels has text that can be read on every screen. */
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
  /** The newest event of each name. */
  readonly events: Partial<E>;
  /** The stream is lost; the events are older. */
  readonly lost?: LostStream;
}

/** Follows a stream of which the newest event of each name counts, while the view is shown. */
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
  /** Why the last request failed; the data are older then. */
  readonly fault?: Error;
  /** {@link PolledOptions.again} at the last answer. */
  readonly answered?: number;
}

interface PolledOptions {
  /** Another number when the reader signed in: the last answer no longer counts. */
  readonly again?: number;
  /** It changes only with events of cars: it is read at each, and seldom while the stream of the hub brings them. */
  readonly byEvents?: boolean;
}

/** Time between two requests for what changes only with events, while a stream brings these. */
const STREAMED_POLL_INTERVAL_MS = 10_000;

/** Polls an address while the view is shown. The data stay until the next path answers. */
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

/** Time from an event to the next reading of records, ms: one seldom comes alone. */
const EVENT_READ_DELAY_MS = 300;

/**
 * Reads records every `every` ms, and soon after a change of one of the topics, while the view is shown and the tab can be seen.
 * `key`: with another one the records are other ones.
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
      // 0: they are being read.
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

/** One row of a list that Tab reaches; keys move it (roving tabindex of the ARIA practices). */
export interface Rows<E extends HTMLElement> {
  /** Holds the rows, each with its name in `data-row`. */
  readonly list: RefObject<E | null>;
  readonly reached: string | undefined;
  /** Call it when a row takes the focus. */
  readonly setFocused: (row: string) => void;
  readonly focus: (row: string | undefined) => void;
  /** Moves by the arrows, Home and End, and by `more`. */
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
