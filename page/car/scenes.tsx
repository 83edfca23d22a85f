/** View 6, scenes: actions of the simulated car on a bench. A click starts one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { post } from '../shared/connection.ts';
import { unbroken } from '../shared/format.ts';
import { useTopics } from '../shared/hooks.ts';
import { ViewLost } from '../shared/lost.tsx';
import { useOutbox } from './wire.tsx';

/** Titles of the scenes, and hints about what to watch. */
const words: Readonly<Record<string, readonly [title: string, what: string]>> = {
  drive: ['Drive', 'Pulls out and drives around the Champ de Mars. A trip begins after the first 20 m.'],
  park: ['Park', 'Stops; the driver gets out and locks the car.'],
  charge: ['Charge', 'Stops, is plugged in and charges.'],
  crash: ['Crash', 'Drives 120 m and hits the car in front: a collision with its readings.'],
  theft: ['Theft', 'A door is broken open, the engine started without a key, and the car driven away.'],
  alarm: ['Alarm', 'Stands locked; after 5 s the alarm hears somebody inside, for 20 s.'],
  'low-battery': ['Low battery', 'The 12 V battery falls to 12 %, and its lamp is lit.'],
  'door-open': ['Door open', 'The car stands with the door of the driver open.'],
  private: ['Private', 'Drives, and the driver hides the position.'],
  tunnel: ['Tunnel', 'Drives without satellites for 45 s: the track has a gap.'],
};

export function ScenePanels(): JSX.Element {
  const { events, lost } = useOutbox();
  const { bench } = events;
  useTopics('connection');
  const [fault, setFault] = useState<string>();
  if (store.car !== undefined && store.car.bench !== true) {
    return <p class="panel reading">Only the simulated car of a bench plays scenes.</p>;
  }
  const strip = <ViewLost what="the bench" lost={lost} />;
  if (bench?.scenes === undefined) {
    return (
      <>
        {strip}
        <p class="panel reading">Reads the bench …</p>
      </>
    );
  }
  const play = (scene: string): void => {
    setFault(undefined);
    post('/vigie/v1/bench', { scene }).catch((error: Error) => setFault(error.message));
  };
  const { scene: played } = bench;
  return (
    <section class="panel" aria-labelledby="scenes-title">
      <header>
        <h2 id="scenes-title">Scenes</h2>
        <span class="note" role="status">
          {played === undefined ? 'The car follows its scenario' : `Plays: ${words[played]?.[0] ?? played}`}
        </span>
      </header>
      {strip}
      {fault !== undefined && (
        <p class="remark bad" role="alert">
          {fault}
        </p>
      )}
      <ul class="scenes">
        {bench.scenes.map((scene) => (
          <li key={scene}>
            <button
              type="button"
              class="btn"
              aria-pressed={scene === played}
              aria-describedby={`scene-${scene}`}
              disabled={store.connection.state !== 'live'}
              onClick={() => play(scene)}
            >
              {words[scene]?.[0] ?? scene}
            </button>
            <span id={`scene-${scene}`}>{unbroken(words[scene]?.[1] ?? '')}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
