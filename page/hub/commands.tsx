/** Commands to one car of a hub, and their audit trail. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { HubOrderKind, HubOrders } from '../../protocol/interface/own/hub-overview.ts';
import { History, Question, type ShownCommand } from '../car/commands.tsx';
import { store } from '../shared/car-store.ts';
import { labelOf, questionOf, titleOf } from '../shared/command-words.ts';
import { Refused } from '../shared/connection.ts';
import { usePolled, useTopics } from '../shared/hooks.ts';
import { languageOfNames } from '../shared/words.ts';
import { type HubRemote, pathOfRemotes, requestRemote } from './remotes.ts';

/** Time in ms between two reads of the audit trail if no stream reports changes. */
const POLL_INTERVAL_MS = 700;
/** Time in ms between two reads of the command kinds, which stay the same while a hub runs. */
const KINDS_POLL_INTERVAL_MS = 60_000;
/** Largest number of rows that are shown of the audit trail. */
const MAX_ROWS = 20;

export function HubCommandPanels({ vin }: { readonly vin: string }): JSX.Element {
  useTopics('connection');
  const { data: orders } = usePolled<HubOrders>('/vigie/v1/orders', KINDS_POLL_INTERVAL_MS);
  const { data: trail, fault } = usePolled<{ readonly remotes: readonly HubRemote[] }>(
    pathOfRemotes(vin),
    POLL_INTERVAL_MS,
    {
      byEvents: true,
    },
  );
  if (orders === undefined || trail === undefined) {
    return fault === undefined ? (
      <p class="panel reading">Reads what cars can do …</p>
    ) : (
      <p class="panel reading bad" role="alert">
        The hub does not show the commands: {fault.message}
      </p>
    );
  }
  return (
    <div class="command-grid">
      <div class="cards" lang={languageOfNames()}>
        {orders.kinds.map((kind) => (
          <Card key={kind.type} kind={kind} vin={vin} />
        ))}
      </div>
      <History
        history={trail.remotes.slice(0, MAX_ROWS).map((remote) => shownOf(remote, orders))}
        kinds={[]}
        note="commands through the hub"
        empty="The hub has not sent a command to this car yet. Press a button."
      />
    </div>
  );
}

/** Converts a command. Before the car reports a state, only the request is shown. */
function shownOf(remote: HubRemote, { kinds }: HubOrders): ShownCommand {
  const { remoteActionId, type, body, requestedBy, requestedAt, states } = remote;
  const given = JSON.stringify(body);
  const order = kinds
    .find((kind) => kind.type === type)
    ?.orders.find((one) => JSON.stringify(Object.values(one.body)[0]) === given);
  const told = states.map(({ at, ...state }) => ({ ...state, at: Date.parse(at) }));
  const all = [{ status: 'Requested', at: Date.parse(requestedAt) }, ...told];
  return {
    remoteActionId,
    type,
    ...(order === undefined ? {} : { order: order.name }),
    origin: 'hub',
    by: requestedBy,
    states: all as unknown as ShownCommand['states'],
  };
}

type Order = HubOrderKind['orders'][number];

function Card({ kind, vin }: { readonly kind: HubOrderKind; readonly vin: string }): JSX.Element {
  const { type, orders } = kind;
  const [asking, setAsking] = useState<Order>();
  const [fault, setFault] = useState<Error>();
  const live = store.connection.state === 'live';
  const send = ({ body }: Order): void => {
    setAsking(undefined);
    setFault(undefined);
    requestRemote(vin, body).catch(setFault);
  };
  const title = titleOf(type);
  return (
    <section class="panel card" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <div class="row-of-buttons">
        {orders.map((order) => (
          <button
            key={order.name}
            type="button"
            class="btn"
            disabled={!live}
            onClick={() => (questionOf(type, order.name) === undefined ? send(order) : setAsking(order))}
          >
            {labelOf(type, order.name)}
            {questionOf(type, order.name) !== undefined && ' …'}
          </button>
        ))}
      </div>
      {asking !== undefined && (
        <Question
          key={asking.name}
          question={questionOf(type, asking.name) ?? ''}
          answer={labelOf(type, asking.name)}
          yes={() => send(asking)}
          no={() => setAsking(undefined)}
        />
      )}
      {fault !== undefined && (
        <p class="bad" role="alert">
          {fault.message}
          {fault instanceof Refused && fault.requestId !== undefined && <small> {fault.requestId}</small>}
        </p>
      )}
    </section>
  );
}
