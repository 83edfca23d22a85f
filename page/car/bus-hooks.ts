/** Hooks of components for the buses. */
import { useEffect, useReducer } from 'preact/hooks';
import { busStore } from './bus-store.ts';

/** Redraws the component after a change of this topic of the buses. */
export function useBus(topic: string): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const end = busStore.listen(topic, () => redraw(undefined as never));
    // Catches a change between drawing and listening.
    redraw(undefined as never);
    return end;
  }, [topic]);
}
