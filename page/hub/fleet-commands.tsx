/** A command to all chosen cars, and its progress in each car. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { HubOrderKind, HubOrders } from '../../protocol/interface/own/hub-overview.ts';
import { Question } from '../car/commands.tsx';
import { addressOfCar } from '../shared/addresses.ts';
import { labelOf, titleOf } from '../shared/command-words.ts';
import { carNow } from '../shared/connection.ts';
import { capital, numberOf } from '../shared/format.ts';
import { usePolled } from '../shared/hooks.ts';
import { codeInWords, languageOfNames } from '../shared/words.ts';
import { type HubRemote, isFinal, readRemote, requestRemote } from './remotes.ts';

/** Time in ms between two reads of the command kinds, which stay the same while a hub runs. */
const KINDS_POLL_INTERVAL_MS = 60_000;
/** Largest number of parallel requests. A browser opens at most six connections for the page. */
const MAX_PARALLEL_REQUESTS = 3;
/** Time between two checks of commands without a final state. */
const POLL_INTERVAL_MS = 700;

type Order = HubOrderKind['orders'][number];

interface Asked {
  readonly type: string;
  readonly order: Order;
  readonly vins: readonly string[];
}

/** Progress of the command to one car. */
interface Run {
  readonly vin: string;
  readonly remote?: HubRemote;
  /** Reason why the hub refused the command. */
  readonly fault?: string;
}

/** Returns true if the command has ended. A car that did not answer within its validity does not carry it out. */
function isOver({ remote, fault }: Run): boolean {
  return fault !== undefined || (remote !== undefined && (isFinal(remote) || carNow() > Date.parse(remote.expiresAt)));
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_REQUESTS }, worker));
}

/** Sends the command to each car, and checks it until it has a final state in each. */
function useRuns(asked: Asked | undefined): readonly Run[] {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  useEffect(() => {
    if (asked === undefined) return;
    let ended = false;
    const all = new Map<string, Run>(asked.vins.map((vin) => [vin, { vin }]));
    const put = (run: Run): void => {
      all.set(run.vin, run);
      if (!ended) setRuns([...all.values()]);
    };
    setRuns([...all.values()]);
    const follow = async (): Promise<void> => {
      await inTurns(asked.vins, async (vin) => {
        if (ended) return;
        try {
          put({ vin, remote: await requestRemote(vin, asked.order.body) });
        } catch (error) {
          put({ vin, fault: (error as Error).message });
        }
      });
      while (!ended && [...all.values()].some((run) => !isOver(run))) {
        await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
        const open = [...all.values()].filter((run) => !isOver(run));
        await inTurns(open, async ({ vin, remote }) => {
          if (ended || remote === undefined) return;
          // If a check fails, the next one follows all the same.
          await readRemote(vin, remote).then(
            (next) => put({ vin, remote: next }),
            () => undefined,
          );
        });
      }
    };
    void follow();
    return () => {
      ended = true;
    };
  }, [asked]);
  return runs;
}

interface FleetCommandsOptions {
  readonly chosen: ReadonlySet<string>;
  readonly forget: () => void;
}

export function FleetCommands({ chosen, forget }: FleetCommandsOptions): JSX.Element {
  const { data } = usePolled<HubOrders>('/vigie/v1/orders', KINDS_POLL_INTERVAL_MS);
  const [asking, setAsking] = useState<Asked>();
  const [asked, setAsked] = useState<Asked>();
  const runs = useRuns(asked);
  const cars = counted(chosen.size);
  return (
    <section class="panel fleet-commands" aria-labelledby="many-title">
      <header>
        <h2 id="many-title">Command to many</h2>
        <span class="note" data-testid="chosen">
          {chosen.size === 0 ? 'no car chosen' : `${cars} chosen`}
        </span>
        {chosen.size > 0 && (
          <button type="button" class="btn" onClick={forget}>
            Clear the choice
          </button>
        )}
      </header>
      {chosen.size === 0 ? (
        <p class="none">Choose cars in the table: tick them, or press Space on a row.</p>
      ) : (
        <dl class="orders" lang={languageOfNames()}>
          {data?.kinds.map(({ type, orders }) => (
            <div key={type}>
              <dt>{titleOf(type)}</dt>
              <dd class="row-of-buttons">
                {orders.map((order) => (
                  <button
                    key={order.name}
                    type="button"
                    class="btn"
                    aria-label={`${titleOf(type)}: ${labelOf(type, order.name)} …`}
                    onClick={() => setAsking({ type, order, vins: [...chosen] })}
                  >
                    {labelOf(type, order.name)} …
                  </button>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {asking !== undefined && (
        <Question
          key={`${asking.type} ${asking.order.name}`}
          question={`Send “${titleOf(asking.type)}: ${labelOf(asking.type, asking.order.name)}” to ${counted(asking.vins.length)}?`}
          answer={labelOf(asking.type, asking.order.name)}
          yes={() => {
            setAsked(asking);
            setAsking(undefined);
          }}
          no={() => setAsking(undefined)}
        />
      )}
      {asked !== undefined && <Progress asked={asked} runs={runs} again={(vins) => setAsked({ ...asked, vins })} />}
    </section>
  );
}

interface ProgressOptions {
  readonly asked: Asked;
  readonly runs: readonly Run[];
  readonly again: (vins: readonly string[]) => void;
}

const ORDER = ['Accepted', 'SentToVehicle', 'Success', 'AlreadyDone', 'Failed'];

function Progress({ asked: { type, order }, runs, again }: ProgressOptions): JSX.Element {
  /** Returns the number of cars that reached the state, including those that are already beyond it. */
  const reached = (state: string): number =>
    runs.filter(({ remote, fault }) =>
      state === 'Failed'
        ? fault !== undefined || remote?.status === state
        : remote?.states.some(({ status }) => status === state),
    ).length;
  const rest = runs.filter((run) => isOver(run) && !isDone(run));
  const over = runs.every(isOver);
  const causes = new Map<string, string[]>();
  for (const { vin, remote, fault } of rest) {
    const cause =
      fault ??
      (remote?.failureCause === undefined
        ? 'the car did not answer in time'
        : codeInWords('failures', remote.failureCause));
    causes.set(cause, [...(causes.get(cause) ?? []), vin]);
  }
  const sum = `${titleOf(type)}: ${labelOf(type, order.name)}, ${counted(runs.length)}`;
  return (
    <div class="progress">
      <h3>{sum}</h3>
      <dl>
        {ORDER.map((state) => (
          <div key={state}>
            <dt title={state}>{capital(codeInWords('commandStates', state))}</dt>
            <dd>
              <meter min={0} max={Math.max(1, runs.length)} value={reached(state)} aria-label={state} class={state} />
              <b data-testid={`many ${state}`}>{numberOf(reached(state), 1)}</b>
            </dd>
          </div>
        ))}
      </dl>
      {[...causes].map(([cause, vins]) => (
        <p key={cause} class="bad">
          {counted(vins.length)}: {cause} (
          {vins.slice(0, 5).map((vin, index) => (
            <span key={vin}>
              {index > 0 && ', '}
              <a class="mono" href={addressOfCar(vin, 'commands')}>
                {vin}
              </a>
            </span>
          ))}
          {vins.length > 5 && ' …'})
        </p>
      ))}
      {over && rest.length > 0 && (
        <button type="button" class="btn" onClick={() => again(rest.map(({ vin }) => vin))}>
          {rest.length === 1 ? 'Try this car again' : `Try these ${rest.length} again`}
        </button>
      )}
      <p class="hidden" role="status">
        {over && `${sum}: ${runs.length - rest.length} done, ${rest.length} not done.`}
      </p>
    </div>
  );
}

function isDone({ remote }: Run): boolean {
  return remote?.status === 'Success' || remote?.status === 'AlreadyDone';
}

function counted(cars: number): string {
  return `${numberOf(cars, 1)} ${cars === 1 ? 'car' : 'cars'}`;
}
