/** Frame of the views of a hub: all cars, or those views of one car for which the hub has data. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FleetTable } from '../../protocol/interface/own/hub-overview.ts';
import { CarPanels } from '../car/car.tsx';
import { JourneyPanels } from '../car/journey.tsx';
import { addressOfCar, carOfAddress, incidentOfAddress } from '../shared/addresses.ts';
import { type Connection, store } from '../shared/car-store.ts';
import { carNow, SignInNeeded } from '../shared/connection.ts';
import { agoOf, numberOf } from '../shared/format.ts';
import { type Polled, usePolled, useTopics } from '../shared/hooks.ts';
import { LanguageChoice, useNames } from '../shared/language-choice.tsx';
import { Lost } from '../shared/lost.tsx';
import { PushSwitch } from '../shared/push/switch.tsx';
import { SignIn } from '../shared/sign-in.tsx';
import { type Tab, Tabs, useShortcuts } from '../shared/tabs.tsx';
import { HubCommandPanels } from './commands.tsx';
import { FleetPanels, type TableQuery } from './fleet.tsx';
import { HubWirePanels } from './wire.tsx';

/** Time in ms between two reads of the table. The hub reads its database twice a second. */
const POLL_INTERVAL_MS = 700;
/** Time in ms without messages after which a car's values may be outdated. */
const SILENT_AFTER_MS = 60_000;

interface View extends Tab {
  /** The panels get the VIN: when they are drawn for the last time, the page's address may already contain no car. */
  readonly panels: ComponentType<{ readonly vin: string }>;
}

const carViews: readonly View[] = [
  { id: 'car', name: 'The car', short: 'Car', key: 'c', panels: CarPanels },
  { id: 'journey', name: 'The journey', short: 'Journey', key: 'j', panels: JourneyPanels },
  { id: 'commands', name: 'Commands', key: 'k', panels: HubCommandPanels },
  { id: 'wire', name: 'The wire', short: 'Wire', key: 'w', panels: HubWirePanels },
];
const [firstView] = carViews as readonly [View];

/** Reads `#cars/VIN/VIEW` or an incident's address, which shows its car's first view. All others show all cars. */
function placeOfAddress(): { readonly vin?: string; readonly view: View } {
  const incident = incidentOfAddress(location.hash);
  if (incident !== undefined) return { vin: incident.vin, view: firstView };
  const { vin, view: id } = carOfAddress(location.hash);
  const view = carViews.find((one) => one.id === id) ?? firstView;
  return vin === undefined ? { view } : { vin, view };
}

export function HubShell(): JSX.Element {
  useNames();
  const [place, setPlace] = useState(placeOfAddress());
  const [query, setQuery] = useState<TableQuery>({ search: '', age: undefined, sort: '-missing', first: 0 });
  /** Number of times that the reader has signed in. */
  const [signedIn, setSignedIn] = useState(0);
  const { vin, view } = place;
  useEffect(() => {
    const changed = (): void => setPlace(placeOfAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  useEffect(() => {
    document.title = vin === undefined ? 'Vigie hub' : `${vin} · Vigie hub`;
  }, [vin]);
  const show = (next: View): void => {
    if (vin !== undefined) location.hash = addressOfCar(vin, next.id);
  };
  const tabs = vin === undefined ? [] : carViews;
  useShortcuts(tabs, show);
  const table = usePolled<FleetTable>(pathOf(query), POLL_INTERVAL_MS, { again: signedIn });
  const connection = useConnection(table, signedIn);
  const isLetIn = table.data !== undefined;
  useEffect(() => {
    if (isLetIn) store.show(vin);
  }, [vin, isLetIn]);
  const Panels = view.panels;
  return (
    <>
      <header class="top">
        <div class="who">
          <img src="/page/icon.svg" alt="" width="28" height="28" />
          <h1>
            {vin === undefined ? 'Vigie hub' : <span class="mono">{vin}</span>}
            {vin !== undefined && (
              <a class="vin" href="#cars">
                All cars
              </a>
            )}
          </h1>
        </div>
        <Tabs tabs={tabs} shown={view} show={show} />
        <HubThread connection={connection} table={table.data} vin={vin} />
      </header>
      {connection.state === 'lost' && <Lost what="the hub" since={connection.since} reason={connection.reason} />}
      <main>
        {connection.state === 'sign-in' ? (
          <SignIn
            scheme={connection.scheme}
            before={connection.before}
            done={() => {
              setSignedIn(signedIn + 1);
              store.start(true);
            }}
          />
        ) : table.data === undefined ? (
          <p class="panel reading">Reads the cars …</p>
        ) : vin === undefined ? (
          <FleetPanels table={table.data} query={query} ask={setQuery} />
        ) : (
          <div id="view" role="tabpanel" aria-label={view.name}>
            <CarOfHub vin={vin} panels={<Panels key={vin} vin={vin} />} />
          </div>
        )}
      </main>
      <footer>
        <a href="/docs">Interface</a> <a href="/page/licences.txt">Licences</a>
        <LanguageChoice />
        <PushSwitch admitted={connection.state === 'live'} vin={vin} />
      </footer>
    </>
  );
}

function CarOfHub({ vin, panels }: { readonly vin: string; readonly panels: JSX.Element }): JSX.Element {
  useTopics('connection');
  const { connection } = store;
  if (connection.state === 'lost' && store.values.size === 0) {
    return (
      <p class="panel reading bad" role="alert">
        The hub does not show the car {vin}: {connection.reason}
      </p>
    );
  }
  return store.car === undefined ? <p class="panel reading">Reads the car …</p> : panels;
}

interface ThreadOptions {
  readonly connection: Connection;
  readonly table: FleetTable | undefined;
  readonly vin: string | undefined;
}

/** Shows the page's connection, the time of the car's last message, and the number of missing messages of all cars. */
function HubThread({ connection, table, vin }: ThreadOptions): JSX.Element {
  useTopics('second', 'connection');
  const page = { live: 'Live', reading: 'Connects', lost: 'Lost', 'sign-in': 'Signed out' }[connection.state];
  const silence = store.heard === undefined ? undefined : carNow() - store.heard;
  return (
    <div class="thread">
      <span data-testid="connection">
        <i class={`mark ${connection.state === 'live' ? 'good' : 'warn'}`} aria-hidden="true" />
        <b>{page}</b>
      </span>
      {vin !== undefined && silence !== undefined && (
        <span data-testid="heard">
          <i class={`mark ${silence < SILENT_AFTER_MS ? 'good' : 'warn'}`} aria-hidden="true" />
          Heard <b>{agoOf(silence)}</b>
        </span>
      )}
      {table !== undefined && (
        <span>
          Missing <b data-testid="missing">{numberOf(table.missing, 1)}</b>
          {vin !== undefined && ' of all cars'}
        </span>
      )}
    </div>
  );
}

/** Returns the state of the connection. If the hub cannot be reached, the page keeps its data and shows since when. */
function useConnection({ data, fault, answered }: Polled<FleetTable>, signedIn: number): Connection {
  const [lostAt, setLostAt] = useState<number>();
  const isLost = fault !== undefined;
  useEffect(() => setLostAt(isLost ? Date.now() : undefined), [isLost]);
  if (fault instanceof SignInNeeded) {
    const before = answered === signedIn ? 'ended' : signedIn > 0 ? 'refused' : 'none';
    return { state: 'sign-in', scheme: fault.scheme, before };
  }
  if (fault !== undefined) return { state: 'lost', since: lostAt ?? Date.now(), reason: fault.message };
  return { state: data === undefined ? 'reading' : 'live' };
}

function pathOf({ search, age, sort, first }: TableQuery): string {
  const parameters = new URLSearchParams({ sort, first: String(first) });
  if (search !== '') parameters.set('search', search);
  if (age !== undefined) parameters.set('age', age);
  return `/vigie/v1/vehicles?${parameters}`;
}
