/** How components follow the store. */
import { useEffect, useReducer } from 'preact/hooks';
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
