/** Frame of all views: name, tabs, connection, and announcements for screen readers. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { carNow } from '../shared/connection.ts';
import { ageOf } from '../shared/format.ts';
import { useTopics } from '../shared/hooks.ts';
import { LanguageChoice, useNames } from '../shared/language-choice.tsx';
import { CarLost } from '../shared/lost.tsx';
import { PushSwitch } from '../shared/push/switch.tsx';
import { SignIn } from '../shared/sign-in.tsx';
import { type Tab, Tabs, useShortcuts } from '../shared/tabs.tsx';
import { BusPanels } from './bus.tsx';
import { CarPanels } from './car.tsx';
import { CommandPanels } from './commands.tsx';
import { ExitPanels } from './exits.tsx';
import { JourneyPanels } from './journey.tsx';
import { ScenePanels } from './scenes.tsx';
import { WirePanels } from './wire.tsx';

interface View extends Tab {
  readonly panels: ComponentType;
  /** Set only on a bench. */
  readonly bench?: true;
  /** True if the view is useful even when the car cannot be read. */
  readonly alone?: true;
}

const views: readonly View[] = [
  { id: 'car', name: 'The car', short: 'Car', key: 'c', panels: CarPanels },
  { id: 'bus', name: 'The bus', short: 'Bus', key: 'b', panels: BusPanels },
  { id: 'journey', name: 'The journey', short: 'Journey', key: 'j', panels: JourneyPanels },
  { id: 'commands', name: 'Commands', key: 'k', panels: CommandPanels },
  { id: 'wire', name: 'The wire', short: 'Wire', key: 'w', panels: WirePanels, alone: true },
  { id: 'exits', name: 'Exits', key: 'x', panels: ExitPanels, alone: true },
  { id: 'scenes', name: 'Scenes', key: 's', panels: ScenePanels, bench: true, alone: true },
];

export function Shell(): JSX.Element {
  useNames();
  useTopics('connection');
  const [shown, setShown] = useState(viewOfAddress());
  const { connection, car } = store;
  const tabs = views.filter(({ bench = false }) => !bench || car?.bench === true);
  useEffect(() => {
    const changed = (): void => setShown(viewOfAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  useShortcuts(tabs, show);
  useEffect(() => {
    document.title = `${car === undefined ? 'Vigie' : `${car.title} · Vigie`}`;
  }, [car]);
  const Panels = shown.panels;
  return (
    <>
      <header class="top">
        <div class="who">
          <img src="/page/icon.svg" alt="" width="28" height="28" />
          <h1>
            {car?.title ?? 'Vigie'}
            <span class="mono vin">{car?.vin ?? ''}</span>
          </h1>
        </div>
        <Tabs tabs={tabs} shown={shown} show={show} />
        <Thread />
      </header>
      {connection.state === 'lost' && <CarLost {...connection} />}
      <main>
        <div id="view" role="tabpanel" aria-label={shown.name}>
          {connection.state === 'sign-in' ? (
            <SignIn scheme={connection.scheme} before={connection.before} done={() => store.start(true)} />
          ) : store.values.size === 0 && connection.state !== 'live' && shown.alone !== true ? (
            <p class="panel reading">
              {connection.state === 'reading' ? 'Reads the car …' : 'No value of the car yet.'}
            </p>
          ) : (
            <Panels />
          )}
        </div>
      </main>
      <footer>
        <a href="/docs">Interface</a> <a href="/page/licences.txt">Licences</a>
        <LanguageChoice />
        <PushSwitch admitted={connection.state === 'live' && car !== undefined} vin={car?.vin} title={car?.title} />
      </footer>
      <Announcements />
    </>
  );
}

/** Shows the page's connection, the age of the newest value, and the state of the car's own link. */
function Thread(): JSX.Element {
  useTopics('connection', 'link', 'second');
  const { connection, link } = store;
  const page = { live: 'Live', reading: 'Connects', lost: 'Lost', 'sign-in': 'Signed out' }[connection.state];
  const newest = [...store.values.values()].reduce((most, { at }) => Math.max(most, at), 0);
  return (
    <div class="thread">
      <span data-testid="connection">
        <i class={`mark ${connection.state === 'live' ? 'good' : 'warn'}`} aria-hidden="true" />
        <b>{page}</b>
        {newest > 0 && (
          <span class="newest">
            {' '}
            <span class="words">newest value </span>
            {ageOf(carNow() - newest)}
          </span>
        )}
      </span>
      {link !== undefined && (
        <>
          <span data-testid="link" title={link.reason}>
            <i class={`mark ${link.state === 'up' ? 'good' : 'warn'}`} aria-hidden="true" />
            Broker <b>{link.state === 'up' ? 'online' : 'offline'}</b>
          </span>
          <span class="waiting">
            Waiting <b data-testid="waiting">{link.waiting}</b>
          </span>
        </>
      )}
    </div>
  );
}

/** Announces changes of the connection and the link to screen readers, but no values. */
function Announcements(): JSX.Element {
  useTopics('connection', 'link');
  const { connection, link } = store;
  const text =
    connection.state !== 'live' || link === undefined
      ? ''
      : link.state === 'up'
        ? 'The car is online.'
        : 'The car lost its broker.';
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  );
}

function show(view: View): void {
  location.hash = view.id;
}

function viewOfAddress(): View {
  return views.find(({ id }) => `#${id}` === location.hash) ?? (views[0] as View);
}
