/** How components follow the buses. */
import { useEffect, useReducer } from 'preact/hooks';
import { busStore } from './bus-store.ts';

/** Draws the component again when this topic of the buses has changed. */
export function useBus(topic: string): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const end = busStore.listen(topic, () => redraw(undefined as never));
    // A change between drawing and listening.
    redraw(undefined as never);
    return end;
  }, [topic]);
}
