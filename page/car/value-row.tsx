/**
 * One value in the list of all values. Changes are written directly into text nodes: hundreds of values may change in a
 * single frame of the screen, and redrawing components would take several times as long. A hidden row is updated once a
 * second, which is sufficient for screen readers and the browser's search.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { carNow } from '../shared/connection.ts';
import { ageOf, stepOf, textOf, unitOf } from '../shared/format.ts';

interface ValueRowOptions {
  readonly path: string;
  readonly chosen: boolean;
  /** True for the row that the Tab key reaches. */
  readonly reached: boolean;
}

/** Duration in ms of the tint after a change. `steady` is for reduced motion, which shows an underline instead. */
const TINT_MS = { fading: 200, steady: 1_000 };
/** Time in ms between two checks for tints that must end. */
const SWEEP_INTERVAL_MS = 100;
/** Tinted elements, with the time in ms when the tint ends. A constantly changing value stays tinted. */
const tinted = new Map<HTMLElement, number>();
let sweeping: ReturnType<typeof setInterval> | undefined;
/** Rows that are visible in both list and window, and functions that update a row when it becomes visible. */
const seen = new WeakSet<Element>();
const writers = new WeakMap<Element, () => void>();
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) seen.delete(target);
    else if (!seen.has(target)) {
      writers.get(target)?.();
      seen.add(target);
    }
  }
});

export function ValueRow({ path, chosen, reached }: ValueRowOptions): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  const { unit, resolution: finest } = store.descriptions.get(path) ?? {};
  const resolution = stepOf(unit, finest);
  // The description may arrive after the first values.
  useLayoutEffect(
    () => (row.current === null ? undefined : showValue(row.current, path, resolution)),
    [path, resolution],
  );
  const [, ...rest] = path.split('.');
  const last = rest.pop() ?? path;
  return (
    <div
      role="treeitem"
      class={chosen ? 'row chosen' : 'row'}
      aria-level={2}
      aria-selected={chosen}
      data-row={path}
      tabIndex={reached ? 0 : -1}
      ref={row}
    >
      <span class="path" title={path}>
        {rest.length > 0 && <i>{rest.join('.')}.</i>}
        <span class="last">{last}</span>
      </span>
      <span class="shown">
        <span />
        {unitOf(unit) !== '' && <small> {unitOf(unit)}</small>}
      </span>
      <span class="age" />
    </div>
  );
}

/** Writes the value and its age into the row, now and at each change. Returns a function that stops this. */
function showValue(row: HTMLElement, path: string, resolution: number | undefined): () => void {
  const [shown, age] = [row.querySelector('.shown'), row.querySelector('.age')] as [HTMLElement, HTMLElement];
  const text = shown.firstElementChild as HTMLElement;
  let known = store.value(path)?.changes ?? 0;
  const show = (): void => {
    const found = store.value(path);
    if (found === undefined) return;
    const stale = store.isStale(found);
    write(text, textOf(found.value, resolution));
    if (row.dataset['stale'] !== String(stale)) row.dataset['stale'] = String(stale);
    // Tint only rows that are visible.
    if (found.changes !== known && !stale && seen.has(row)) tint(shown);
    known = found.changes;
    write(age, ageOf(carNow() - found.at));
  };
  const showIfSeen = (): void => {
    if (seen.has(row)) show();
  };
  show();
  writers.set(row, show);
  sight.observe(row);
  const ends = [store.listen(path, showIfSeen), store.listen('connection', show), store.listen('second', show)];
  return () => {
    for (const end of ends) end();
    sight.unobserve(row);
    seen.delete(row);
    tinted.delete(shown);
  };
}

function write(element: HTMLElement, text: string): void {
  const node = element.firstChild as Text | null;
  if (node === null) element.append(text);
  else if (node.data !== text) node.data = text;
}

function tint(element: HTMLElement): void {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!tinted.has(element)) element.classList.add('flash');
  tinted.set(element, performance.now() + (still ? TINT_MS.steady : TINT_MS.fading));
  sweeping ??= setInterval(sweep, SWEEP_INTERVAL_MS);
}

function sweep(): void {
  const now = performance.now();
  for (const [element, until] of tinted) {
    if (until > now) continue;
    tinted.delete(element);
    element.classList.remove('flash');
  }
  if (tinted.size > 0) return;
  clearInterval(sweeping);
  sweeping = undefined;
}
