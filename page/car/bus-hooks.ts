/** Hooks for components that show the buses. */
import { useEffect, useReducer } from 'preact/hooks';
import { busStore } from './bus-store.ts';

/** Redraws the component after a change of this topic of the buses. */
export function useBus(topic: string): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const end = busStore.listen(topic, () => redraw(undefined as never));
    // Shows a change that happened after drawing and before listening.
    redraw(undefined as never);
    return end;
  }, [topic]);
}
