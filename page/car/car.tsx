/** View 1, the car: unseen incidents, drawing, gauges, all values. */
import type { JSX } from 'preact';
import { Drawing } from './drawing.tsx';
import { Gauges } from './gauges.tsx';
import { Incidents, useUnseen } from './incidents.tsx';
import { Tree } from './tree.tsx';

export function CarPanels(): JSX.Element {
  const unseen = useUnseen();
  return (
    <>
      <Incidents {...unseen} />
      <div class="car-grid">
        <Drawing incidents={unseen.incidents} />
        <Gauges />
        <Tree />
      </div>
    </>
  );
}
