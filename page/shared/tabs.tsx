/** Tabs of the views of a car, on the car's own page and on that of a hub, and their keys. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Tab {
  readonly id: string;
  readonly name: string;
  /** Short title for phones, where all tabs are on one line. */
  readonly short?: string;
  /** Key to press after `g`. */
  readonly key: string;
}

interface TabOptions<T extends Tab> {
  readonly tabs: readonly T[];
  readonly shown: T;
  readonly show: (view: T) => void;
}

export function Tabs<T extends Tab>({ tabs, shown, show }: TabOptions<T>): JSX.Element | null {
  // On a phone the tabs are wider than the screen: scroll to the chosen one.
  useEffect(
    () => document.getElementById(`tab-${shown.id}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [shown, tabs.length],
  );
  if (tabs.length < 2) return null;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = tabs.indexOf(shown) + step;
    const wrapped =
      Math.abs(step) > 1 ? Math.min(tabs.length - 1, Math.max(0, index)) : (index + tabs.length) % tabs.length;
    const next = tabs[wrapped] ?? shown;
    show(next);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
      {tabs.map((view) => (
        <button
          key={view.id}
          id={`tab-${view.id}`}
          type="button"
          role="tab"
          aria-label={view.name}
          aria-selected={view === shown}
          aria-controls="view"
          tabIndex={view === shown ? 0 : -1}
          onClick={() => show(view)}
        >
          <span class={view.short === undefined ? undefined : 'long'}>{view.name}</span>
          {view.short !== undefined && <span class="short">{view.short}</span>}
        </button>
      ))}
    </div>
  );
}

/** Adds shortcuts: `/` for the filter, `g` and a letter for a view. */
export function useShortcuts<T extends Tab>(tabs: readonly T[], go: (view: T) => void): void {
  const now = useRef({ tabs, go });
  now.current = { tabs, go };
  // Register only once: a redraw between the two keys must not lose the first.
  useEffect(() => {
    let going = false;
    const pressed = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select') !== null) return;
      const view = going ? now.current.tabs.find(({ key }) => key === event.key) : undefined;
      going = event.key === 'g';
      if (view !== undefined) now.current.go(view);
      if (event.key !== '/') return;
      event.preventDefault();
      document.getElementById('filter')?.focus();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
