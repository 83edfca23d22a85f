/** View 5, the wire: messages that wait between car and broker, by class, and missing message numbers. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BenchReportEvent, OutboxReport, ReceivedReport } from '../../protocol/interface/own/outbox.ts';
import { store } from '../shared/car-store.ts';
import { carNow, post } from '../shared/connection.ts';
import { ageOf, numberOf, sizeOf } from '../shared/format.ts';
import { type Followed, useStream, useTopics } from '../shared/hooks.ts';
import { ViewLost } from '../shared/lost.tsx';
import { NumbersPanel } from '../shared/numbers-panel.tsx';
import { BacklogChart } from './backlog-chart.tsx';

interface OutboxEvents {
  readonly outbox: OutboxReport;
  readonly bench: BenchReportEvent;
}

/** Follows the outbox and, on a bench, the controls of broker and agent. */
export function useOutbox(): Followed<OutboxEvents> {
  return useStream('/vigie/v1/outbox');
}

export function WirePanels(): JSX.Element {
  const { events, lost } = useOutbox();
  const { outbox, bench } = events;
  const { process } = bench ?? {};
  useEffect(() => {
    if (process !== undefined) store.noteAgent(process);
  }, [process]);
  useTopics('connection', 'link');
  const strip = <ViewLost what="the outbox" lost={lost} />;
  if (outbox === undefined) {
    return (
      <>
        {strip}
        <p class="panel reading">Reads the outbox …</p>
      </>
    );
  }
  const sum = (read: (one: OutboxReport['classes'][number]) => number): number =>
    outbox.classes.reduce((total, one) => total + read(one), 0);
  const waiting = sum(({ waiting: count }) => count);
  const missing = sum(({ missing: count }) => count);
  return (
    <div class="wire-grid">
      {strip}
      <Chain waiting={waiting} bench={bench} live={lost === undefined} />
      <BacklogChart />
      {bench?.published !== undefined && bench.published.json > 0 && <Sizes {...bench.published} />}
      <NumbersPanel
        missing={missing}
        testId="missing"
        note="every message has one; a receiver sees a gap at once"
        explained={{
          none: 'Every number was acknowledged, waits, or was reported as lost.',
          some: 'The car tells the receiver of them.',
        }}
        label="Outbox by class"
        columns={['Made', 'Acknow\u00adledged', 'Waiting', 'Bytes', 'Missing']}
        rows={outbox.classes.map(({ name, kinds, made, acknowledged, waiting: count, bytes, missing: lost }) => ({
          name,
          kinds,
          cells: [made, acknowledged, count, bytes, lost],
        }))}
      />
      {bench?.received !== undefined && <ReceivedNumbers {...bench.received} />}
    </div>
  );
}

/** Shows the message numbers that the broker of the bench has received, even if the agent was killed. */
function ReceivedNumbers({ classes }: ReceivedReport): JSX.Element {
  return (
    <NumbersPanel
      title="Received"
      missing={classes.reduce((total, one) => total + one.missing, 0)}
      testId="received-missing"
      note="counted by the broker since the agent was moved out of the bench"
      explained={{
        none: 'Every number arrived, or the car said that it never comes. What came again counts once.',
        some: 'The car has not sent them yet, or has still to say that they never come.',
      }}
      label="Received by class"
      columns={['Arrived', 'Came again', 'All below', 'Missing']}
      rows={classes.map(({ name, kinds, arrived, again, below, missing }) => ({
        name,
        kinds,
        cells: [arrived, again, below, missing],
        bad: missing > 0 ? 'Missing' : undefined,
      }))}
    />
  );
}

/** Shows how many bytes the wire format saves. */
function Sizes({ bytes, json }: NonNullable<BenchReportEvent['published']>): JSX.Element {
  return (
    <section class="panel" aria-labelledby="sizes-title">
      <header>
        <h2 id="sizes-title">Bytes</h2>
        <span class="note">payloads acknowledged since the bench began, without captures</span>
      </header>
      <p class="missing" data-testid="sizes">
        <span>
          {sizeOf(bytes)} on the air, {sizeOf(json)} as JSON:
        </span>
        <b>{numberOf((100 * bytes) / json, 1)} %</b>
      </p>
    </section>
  );
}

/** Words for the state of the agent's process, and for the button that kills or starts it. */
const processWords = {
  within: ['good', 'runs within the bench, which serves this page', 'Prepare a power cut (own process)'],
  starts: ['warn', 'its process starts …', undefined],
  runs: ['good', 'has a process of its own', 'Kill the process'],
  lost: ['stale', 'this page does not reach its process', 'Kill the process'],
  ended: ['bad', 'its process was killed; what is on disk stays there', 'Start it again'],
} as const;

interface AgentPlugOptions extends Pick<BenchReportEvent, 'process' | 'pid'> {
  readonly live: boolean;
  readonly plug: (wanted: object) => void;
}

function AgentPlug({ process: reported = 'within', pid, live, plug }: AgentPlugOptions): JSX.Element {
  useTopics('connection');
  const known = store.agent ?? reported;
  const process = known === 'runs' && store.connection.state !== 'live' ? 'lost' : known;
  const [mark, words, action] = processWords[process];
  return (
    <>
      <span class="note">
        <i class={`mark ${mark}`} aria-hidden="true" />
        {words}
        {process === 'runs' && pid !== undefined && `: ${pid}`}
      </span>
      {process === 'within' && (
        <span class="note">In a process of its own it can be killed. The move takes a moment.</span>
      )}
      {action !== undefined && (
        <button type="button" class="btn" disabled={!live} onClick={() => plug({ process: known !== 'runs' })}>
          {action}
        </button>
      )}
    </>
  );
}

interface ChainOptions {
  readonly waiting: number;
  readonly bench: BenchReportEvent | undefined;
  /** True if the plugs work. */
  readonly live: boolean;
}

/** Shows car, agent and broker. On a bench, each of them has a plug. */
function Chain({ waiting, bench, live }: ChainOptions): JSX.Element {
  useTopics('link', 'connection', 'second');
  const [fault, setFault] = useState<string>();
  const { link } = store;
  const up = link?.state === 'up';
  const { since, downSince } = link ?? {};
  const from = up ? since : downSince;
  const lasts = from === undefined ? 0 : carNow() - from;
  const [mark, words] =
    link === undefined ? ['stale', 'unknown'] : up ? ['good', 'connected'] : ['bad', 'not connected'];
  const plug = (wanted: object): void => {
    setFault(undefined);
    post<BenchReportEvent>('/vigie/v1/bench', wanted).then(
      ({ process }) => store.noteAgent(process),
      (error: Error) => setFault(error.message),
    );
  };
  return (
    <section class="panel" aria-labelledby="chain-title">
      <header>
        <h2 id="chain-title">From the car to the broker</h2>
      </header>
      <ol class="chain">
        <li class="node">
          <b>Car</b>
          <span class="note">{store.car?.vin ?? ''}</span>
          {bench?.car !== undefined && (
            <>
              <span class="note">
                <i class={`mark ${bench.car ? 'good' : 'bad'}`} aria-hidden="true" />
                {bench.car ? 'plugged in' : 'unplugged: no frame comes in, values grow old, commands fail'}
              </span>
              <button type="button" class="btn" disabled={!live} onClick={() => plug({ car: !bench.car })}>
                {bench.car ? 'Unplug the car' : 'Plug the car in'}
              </button>
            </>
          )}
        </li>
        <li class={bench?.car === false || store.agent === 'ended' ? 'node cut' : 'node'}>
          <b>Agent</b>
          <span class="note">
            <span data-testid="backlog">{numberOf(waiting, 1)}</span>{' '}
            {waiting === 1 ? 'message waits' : 'messages wait'} on disk
          </span>
          {bench?.process !== undefined && <AgentPlug {...bench} live={live} plug={plug} />}
        </li>
        <li class={up ? 'node' : 'node cut'}>
          <b>Broker</b>
          <span class="note">
            <i class={`mark ${mark}`} aria-hidden="true" />
            {words}
            {lasts >= 1000 && ` for ${ageOf(lasts)}`}
          </span>
          <span class="note">{link?.broker ?? ''}</span>
          {link !== undefined && !up && link.reason !== undefined && <span class="bad">{link.reason}</span>}
          {bench?.broker !== undefined && (
            <button type="button" class="btn" disabled={!live} onClick={() => plug({ broker: !bench.broker })}>
              {bench.broker ? 'Pull the plug' : 'Plug it in'}
            </button>
          )}
        </li>
      </ol>
      {fault !== undefined && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}
