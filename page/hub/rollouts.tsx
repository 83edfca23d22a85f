/** Roll-outs of configurations: the progress, the cars, and the next step of each roll-out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  type RolloutCarState,
  type RolloutList,
  type RolloutSummary,
  type RolloutWithCars,
  rolloutCarStates,
  rolloutScope,
} from '../../protocol/interface/own/rollouts.ts';
import { Question } from '../car/commands.tsx';
import { addressOfCar } from '../shared/addresses.ts';
import { hasScope, post } from '../shared/connection.ts';
import { numberOf } from '../shared/format.ts';
import { usePolled } from '../shared/hooks.ts';

/** Time between two reads. */
const POLL_INTERVAL_MS = 2_000;
const ADDRESS = '/vigie/v1/rollouts';
/** Number of roll-outs that are shown until the reader requests all of them. */
const SHOWN_ROLLOUTS = 3;

const stages = { first: 'First cars', all: 'All cars', stopped: 'Stopped' } as const;

const words: Readonly<Record<RolloutCarState, string>> = {
  waiting: 'not sent yet',
  sent: 'sent, no answer yet',
  accepted: 'checked it, will start with it',
  trial: 'runs with it on trial',
  applied: 'keeps it',
  returned: 'rolled back',
  refused: 'refused it',
};

export function Rollouts(): JSX.Element {
  const { data, fault } = usePolled<RolloutList>(ADDRESS, POLL_INTERVAL_MS);
  const [all, setAll] = useState(false);
  const rollouts = data?.rollouts ?? [];
  return (
    <section class="panel rollouts" aria-labelledby="rollouts-title">
      <header>
        <h2 id="rollouts-title">Roll-outs</h2>
        <span class="note">configurations for a fleet, a few cars first</span>
      </header>
      {fault !== undefined && <p class="none bad">{fault.message}</p>}
      {data !== undefined && rollouts.length === 0 && (
        <p class="none">
          No roll-out yet. <span class="mono">vigie hub rollout FILE --fleet FLEET</span> begins one.
        </p>
      )}
      {(all ? rollouts : rollouts.slice(0, SHOWN_ROLLOUTS)).map((one) => (
        <One key={one.id} rollout={one} isLatest={one === rollouts.find(({ fleet }) => fleet === one.fleet)} />
      ))}
      {!all && rollouts.length > SHOWN_ROLLOUTS && (
        <button type="button" class="btn more" onClick={() => setAll(true)}>
          Show {rollouts.length - SHOWN_ROLLOUTS} older
        </button>
      )}
    </section>
  );
}

type Step = 'continue' | 'stop';

interface OneOptions {
  readonly rollout: RolloutSummary;
  /** True if there is no later roll-out to the same fleet. */
  readonly isLatest: boolean;
}

function One({ rollout, isLatest }: OneOptions): JSX.Element {
  const { id, name, fleet, stage, reason, states, requestedBy, requestedAt } = rollout;
  const [asking, setAsking] = useState<Step>();
  const [fault, setFault] = useState<Error>();
  const [shown, setShown] = useState<RolloutCarState>();
  const failed = states.returned + states.refused;
  const take = (step: Step): void => {
    setAsking(undefined);
    setFault(undefined);
    // The person who continues the roll-out has seen how many cars did not keep the configuration.
    const query = step === 'continue' && failed > 0 ? `?tolerate=${failed}` : '';
    post(`${ADDRESS}/${encodeURIComponent(id)}/${step}${query}`, {}).catch(setFault);
  };
  const title = `${name} to ${fleet}`;
  return (
    <section class="rollout" aria-label={title}>
      <p class="rollout-title">
        <i class={`mark ${failed > 0 ? 'bad' : stage === 'stopped' ? 'warn' : 'good'}`} aria-hidden="true" />
        <b>{name}</b> to <b>{fleet}</b>: <span>{stages[stage]}</span>
        <span class="note">
          {new Date(requestedAt).toLocaleString()}, by {requestedBy}
        </span>
      </p>
      {reason !== undefined && <p class={failed > 0 ? 'bad' : 'note'}>Stopped because: {reason}.</p>}
      <div class="row-of-buttons">
        {rolloutCarStates
          .filter((state) => states[state] > 0)
          .map((state) => (
            <button
              key={state}
              type="button"
              class="btn"
              aria-expanded={shown === state}
              onClick={() => setShown(shown === state ? undefined : state)}
            >
              <i class={`mark ${markOf(state)}`} aria-hidden="true" />
              <b>{numberOf(states[state], 1)}</b> {words[state]}
            </button>
          ))}
      </div>
      {shown !== undefined && <Cars id={id} state={shown} />}
      {!isLatest ? null : hasScope(rolloutScope) ? (
        <div class="row-of-buttons">
          {stage !== 'all' && (
            <button
              type="button"
              class={states.applied === 0 ? 'btn refuses' : 'btn'}
              onClick={() => setAsking('continue')}
            >
              Continue to all cars …
            </button>
          )}
          {stage !== 'stopped' && (
            <button type="button" class="btn" onClick={() => setAsking('stop')}>
              Stop …
            </button>
          )}
          {stage !== 'all' && states.applied === 0 && <span class="note">No car has reported it good yet.</span>}
        </div>
      ) : (
        <p class="note">Your token lacks {rolloutScope}.</p>
      )}
      {asking !== undefined && (
        <Question
          key={asking}
          question={questionOf(asking, failed)}
          answer={asking === 'stop' ? 'Stop' : 'Continue'}
          yes={() => take(asking)}
          no={() => setAsking(undefined)}
        />
      )}
      {fault !== undefined && (
        <p class="bad" role="alert">
          {fault.message}
        </p>
      )}
    </section>
  );
}

function questionOf(step: Step, failed: number): string {
  if (step === 'stop') return 'No further car gets it; cars that have it keep it. Stop the roll-out?';
  const warning = failed === 0 ? '' : `${failed} ${failed === 1 ? 'car' : 'cars'} rolled back or refused it. `;
  return `${warning}Every car of the fleet gets it. Continue?`;
}

function markOf(state: RolloutCarState): string {
  if (state === 'returned' || state === 'refused') return 'bad';
  return state === 'applied' ? 'good' : '';
}

interface CarsOptions {
  readonly id: string;
  readonly state: RolloutCarState;
}

/** Lists the cars in one state, with their reports. */
function Cars({ id, state }: CarsOptions): JSX.Element {
  const [after, setAfter] = useState('');
  const query = new URLSearchParams({ state, ...(after === '' ? {} : { after }) });
  const { data, fault } = usePolled<RolloutWithCars>(`${ADDRESS}/${encodeURIComponent(id)}?${query}`, POLL_INTERVAL_MS);
  const cars = data?.cars ?? [];
  const last = cars.at(-1)?.vin;
  return (
    <div class="rollout-cars">
      {fault !== undefined && <p class="bad">{fault.message}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls only what it can reach */}
      <ul class="scroll" aria-label={`Cars: ${words[state]}`} tabIndex={0}>
        {cars.map(({ vin, isFirst, detail, at }) => (
          <li key={vin}>
            <a class="mono" href={addressOfCar(vin)}>
              {vin}
            </a>
            {isFirst && <span class="note">of the first</span>}
            {at !== undefined && <time class="note">{new Date(at).toLocaleString()}</time>}
            {detail !== undefined && <span class="detail">{detail}</span>}
          </li>
        ))}
      </ul>
      {(after !== '' || data?._links.next !== undefined) && (
        <p class="row-of-buttons">
          <button type="button" class="btn" disabled={after === ''} onClick={() => setAfter('')}>
            First
          </button>
          <button
            type="button"
            class="btn"
            disabled={data?._links.next === undefined || last === undefined}
            onClick={() => setAfter(last ?? '')}
          >
            Next
          </button>
        </p>
      )}
    </div>
  );
}
