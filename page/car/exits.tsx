/** View of the exits: other programs that get the car's values, what waits for each, and a test of its receiver. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ExitReport, ExitsReport, ExitTest } from '../../protocol/interface/own/exits.ts';
import { store } from '../shared/car-store.ts';
import { carNow, post } from '../shared/connection.ts';
import { agoOf, numberOf } from '../shared/format.ts';
import { usePolled, useTopics } from '../shared/hooks.ts';

const POLL_INTERVAL_MS = 3_000;
const ADDRESS = '/vigie/v1/exits';

const titles: Readonly<Record<string, string>> = {
  topics: 'Plain topics',
  records: 'Records on topics',
  influx: 'InfluxDB',
  abrp: 'A Better Routeplanner',
};
const states = {
  running: ['good', 'works'],
  waiting: ['bad', 'waits for its receiver'],
  off: ['stale', 'has nothing to send: see scopes and data in the configuration'],
} as const;

export function ExitPanels(): JSX.Element {
  const { data, fault } = usePolled<ExitsReport>(ADDRESS, POLL_INTERVAL_MS);
  useTopics('connection');
  if (data === undefined) return <p class="panel reading">{fault?.message ?? 'Reads the exits …'}</p>;
  return (
    <>
      {fault !== undefined && <p class="strip">{fault.message}</p>}
      {data.exits.length === 0 && <NoExits />}
      <div class="cards">
        {data.exits.map((exit) => (
          <Exit key={exit.name} exit={exit} />
        ))}
      </div>
    </>
  );
}

function NoExits(): JSX.Element {
  return (
    <section class="panel card" aria-labelledby="no-exits-title">
      <header>
        <h2 id="no-exits-title">No exits</h2>
      </header>
      <p>
        This car sends its values to no other program. An exit sends them to Home Assistant, evcc, InfluxDB or A Better
        Routeplanner. Add one to the configuration and start the agent again:
      </p>
      <pre class="mono">{'exits:\n  mqtt: { url: mqtt://homeassistant.local }\n  homeAssistant: {}'}</pre>
    </section>
  );
}

function Exit({ exit }: { readonly exit: ExitReport }): JSX.Element {
  const { name, state, waiting, lost, refused, error, succeededAt } = exit;
  const [result, setResult] = useState<string>();
  useTopics('second');
  const [mark, words] = states[state];
  const title = titles[name] ?? name;
  const test = (): void => {
    setResult('Waits for the receiver …');
    post<ExitTest>(`${ADDRESS}/${encodeURIComponent(name)}/test`, {}).then(
      ({ succeeded, ms, reason }) =>
        setResult(succeeded ? `The receiver confirmed the test after ${ms} ms.` : `The test failed: ${reason}.`),
      (fault: Error) => setResult(fault.message),
    );
  };
  return (
    <section class="panel card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="note">
          <i class={`mark ${mark}`} aria-hidden="true" />
          {words}
        </span>
      </header>
      <p>
        Waiting <b>{numberOf(waiting, 1)}</b>, lost <b>{numberOf(lost, 1)}</b>, refused <b>{numberOf(refused, 1)}</b>
        <br />
        <span class="note">
          {succeededAt === undefined ? 'Nothing confirmed yet.' : `Confirmed ${agoOf(carNow() - succeededAt)}.`}
        </span>
      </p>
      {error !== undefined && <p class="bad">{error}</p>}
      <div class="row-of-buttons">
        <button type="button" class="btn" disabled={store.connection.state !== 'live'} onClick={test}>
          Test
          <span class="hidden"> {title}</span>
        </button>
      </div>
      <p class="note" role="status">
        {result}
      </p>
    </section>
  );
}
