/** How components follow the store. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useState } from 'preact/hooks';
import { busStore } from './bus-store.ts';
import { type CarValue, store, type Topic } from './car-store.ts';

/** Draws the component again when one of the topics has changed. */
export function useTopics(...topics: readonly (Topic | (string & {}))[]): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const key = topics.join(' ');
  useEffect(() => {
    const ends = key.split(' ').map((topic) => store.listen(topic, () => redraw(undefined as never)));
    // What changed between drawing and listening.
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

/** Draws the component again when this topic of the buses has changed. */
export function useBus(topic: string): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const end = busStore.listen(topic, () => redraw(undefined as never));
    // What changed between drawing and listening.
    redraw(undefined as never);
    return end;
  }, [topic]);
}
