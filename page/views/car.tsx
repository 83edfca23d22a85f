/** View 1, the car: drawing, gauges, all values. */
import type { JSX } from 'preact';
import { Drawing } from './drawing.tsx';
import { Gauges } from './gauges.tsx';
import { Tree } from './tree.tsx';

export function CarPanels(): JSX.Element {
  return (
    <div class="car-grid">
      <Drawing />
      <Gauges />
      <Tree />
    </div>
  );
}
