/** View 4, commands: available commands, reasons why the car would refuse them, and outcomes of past commands. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  CommandHistory,
  CommandRequest,
  CommandsReport,
  InterlockReport,
  KindReport,
  OrderReport,
} from '../../protocol/interface/own/commands.ts';
import { store } from '../shared/car-store.ts';
import { labelOf, questionOf, stateInWords, titleOf } from '../shared/command-words.ts';
import { post, Refused } from '../shared/connection.ts';
import { capital, identifierOf, timeOf, unbroken } from '../shared/format.ts';
import { useStream, useTopics, useValue } from '../shared/hooks.ts';
import { ViewLost } from '../shared/lost.tsx';
import { codeInWords, languageOfNames, valueInWords } from '../shared/words.ts';

interface CommandEvents {
  readonly commands: CommandsReport;
  readonly history: CommandHistory;
}

export function CommandPanels(): JSX.Element {
  const { events, lost } = useStream<CommandEvents>('/vigie/v1/commands');
  const { commands: report, history = [] } = events;
  useTopics('connection');
  const strip = <ViewLost what="the commands" lost={lost} />;
  if (report === undefined) {
    return (
      <>
        {strip}
        <p class="panel reading">Reads what the car can do …</p>
      </>
    );
  }
  if (report.kinds.length === 0) {
    return <p class="panel reading">This car takes no commands. Its profile and configuration name none.</p>;
  }
  return (
    <div class="command-grid">
      {strip}
      <div class="cards">
        {report.kinds.map((kind) => (
          <Card key={kind.type} kind={kind} />
        ))}
      </div>
      <History history={history} kinds={report.kinds} />
    </div>
  );
}

function Card({ kind }: { readonly kind: KindReport }): JSX.Element {
  const { type, needs, orders } = kind;
  const [asking, setAsking] = useState<OrderReport>();
  const [fault, setFault] = useState<Refused | Error>();
  const live = store.connection.state === 'live';
  const send = ({ body }: OrderReport): void => {
    setAsking(undefined);
    setFault(undefined);
    const request: CommandRequest = { type, body };
    post('/vigie/v1/commands', request).catch((error: Error) => setFault(error));
  };
  const title = titleOf(type);
  return (
    <section class="panel card" aria-label={title}>
      <header>
        <h2 lang={languageOfNames()}>{title}</h2>
        <Shown path={orders[0]?.confirmedBy} />
      </header>
      {needs === undefined ? (
        <div class="row-of-buttons" lang={languageOfNames()}>
          {orders.map((order) => {
            // If the car already has the ordered state, it does not carry out the order again, and therefore does not
            // refuse it.
            const refused = !order.already && order.interlocks.some(({ holds }) => !holds);
            return (
              <button
                key={order.name}
                type="button"
                class={refused ? 'btn refuses' : 'btn'}
                disabled={!live}
                onClick={() => (questionOf(type, order.name) === undefined ? send(order) : setAsking(order))}
              >
                {labelOf(type, order.name)}
                {questionOf(type, order.name) !== undefined && ' …'}
              </button>
            );
          })}
        </div>
      ) : (
        <p class="note">Your token lacks {needs}.</p>
      )}
      {asking !== undefined && (
        <Question
          key={asking.name}
          question={questionOf(type, asking.name) ?? ''}
          answer={labelOf(type, asking.name)}
          yes={() => send(asking)}
          no={() => setAsking(undefined)}
        />
      )}
      <Interlocks orders={orders} type={type} />
      {fault !== undefined && (
        <p class="bad" role="alert">
          {fault.message}
          {fault instanceof Refused && fault.requestId !== undefined && <small> {fault.requestId}</small>}
        </p>
      )}
    </section>
  );
}

interface QuestionProps {
  readonly question: string;
  /** Label of the confirmation button. */
  readonly answer: string;
  readonly yes: () => void;
  readonly no: () => void;
}

export function Question({ question, answer: label, yes, no }: QuestionProps): JSX.Element {
  const answer = useRef<HTMLButtonElement>(null);
  // Only once: a redraw must not move the focus away from the button that the user has chosen. Before the question
  // becomes visible, so that no key press goes elsewhere.
  useLayoutEffect(() => answer.current?.focus(), []);
  return (
    <fieldset class="asking" aria-label={question} lang={languageOfNames()}>
      <p>{question}</p>
      <div class="row-of-buttons">
        <button ref={answer} type="button" class="btn main" onClick={yes}>
          {label}
        </button>
        <button type="button" class="btn" onClick={no}>
          {codeInWords('page', 'cancel')}
        </button>
      </div>
    </fieldset>
  );
}

const originWords = { page: 'fromPage', interface: 'fromInterface', broker: 'fromBroker', hub: 'fromHub' } as const;

/** Shows a present value of the car. */
function Shown({ path }: { readonly path: string | undefined }): JSX.Element | null {
  const found = useValue(path ?? '');
  // The effects of some commands appear in signals that are not values of Status.
  if (path === undefined || !store.descriptions.has(path)) return null;
  const stale = found === undefined || store.isStale(found);
  return (
    <span class={stale ? 'note stale' : 'note'}>
      {found === undefined ? 'unknown' : valueInWords(path, found.value)}
    </span>
  );
}

/** Shows the conditions of each order. Orders that have the same condition share a line. */
function Interlocks({ orders, type }: { readonly orders: readonly OrderReport[]; readonly type: string }): JSX.Element {
  const needed = new Map<string, { interlock: InterlockReport; readonly orders: Set<string> }>();
  for (const { name, interlocks } of orders) {
    for (const interlock of interlocks) {
      const known = needed.get(interlock.demand) ?? { interlock, orders: new Set() };
      // If a condition covers several parts of the car, use the part that refuses the order.
      if (!interlock.holds) known.interlock = interlock;
      known.orders.add(labelOf(type, name));
      needed.set(interlock.demand, known);
    }
  }
  if (needed.size === 0) return <p class="note">Needs nothing of the car.</p>;
  return (
    <ul class="interlocks">
      {[...needed.values()].map(({ interlock: { demand, shown, holds }, orders: names }) => (
        <li key={demand} class={holds ? 'held' : 'refusing'}>
          <i class={`mark ${holds ? 'good' : 'bad'}`} aria-hidden="true" />
          <span>
            {names.size === orders.length ? '' : `${[...names].join(', ')}: `}
            {unbroken(holds ? demand : `refused, ${demand}`)} <small>({breakable(shown)})</small>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Allows a line break after each dot, because paths of Status are wider than a phone. */
function breakable(text: string): readonly (string | JSX.Element)[] {
  return unbroken(text)
    .split(/(?<=[a-z]\.)(?=[A-Za-z])/)
    .flatMap((part, index) => (index === 0 ? [part] : [<wbr key={index} />, part]));
}

export type ShownCommand = Omit<CommandHistory[number], 'origin'> & {
  readonly origin?: keyof typeof originWords | undefined;
};

interface HistoryOptions {
  readonly history: readonly ShownCommand[];
  /** Empty if the page does not know which values confirm a command. */
  readonly kinds: readonly KindReport[];
  readonly note?: string;
  readonly empty?: string;
}

export function History({
  history,
  kinds,
  note = 'commands from anywhere',
  empty = 'No command since this view was opened. Press a button.',
}: HistoryOptions): JSX.Element {
  const [newest] = history;
  const last = newest?.states.at(-1);
  return (
    <section class="panel history" aria-labelledby="history-title">
      <header>
        <h2 id="history-title">History</h2>
        <span class="note">{note}</span>
      </header>
      {history.length === 0 && <p class="none">{empty}</p>}
      <ol>
        {history.map(({ remoteActionId, type, order, origin, by, states }) => (
          <li key={remoteActionId} class="run">
            <p class="run-title">
              <b>{order === undefined ? titleOf(type) : `${titleOf(type)}: ${labelOf(type, order)}`}</b>{' '}
              {origin !== undefined && (
                <span class="note">
                  {codeInWords('page', originWords[origin])}
                  {by !== undefined && by !== 'local' && `, ${codeInWords('page', 'by')} ${by}`}
                </span>
              )}{' '}
              <small class="note mono">{remoteActionId}</small>
            </p>
            <ol class="steps" lang={languageOfNames()}>
              {states.map(({ status, at, failureCause }) => (
                <li key={`${status} ${at}`} class={status === 'Failed' ? 'failed' : ''}>
                  <span title={failureCause ?? status}>{capital(stateInWords(status, failureCause))}</span>
                  <small>{timeOf(at)}</small>
                </li>
              ))}
            </ol>
            <Outcome states={states} path={confirmingPath(kinds, type)} />
          </li>
        ))}
      </ol>
      <p class="hidden" role="status">
        {newest !== undefined &&
          last !== undefined &&
          `${titleOf(newest.type)}: ${stateInWords(last.status, last.failureCause)}`}
      </p>
    </section>
  );
}

/** Shows why a command failed, or which value confirmed it. */
interface OutcomeOptions {
  readonly states: CommandHistory[number]['states'];
  readonly path: string | undefined;
}

function Outcome({ states, path }: OutcomeOptions): JSX.Element | null {
  const last = states.at(-1);
  if (last?.status === 'Failed')
    return <p class="bad">{last.detail ?? stateInWords(last.status, last.failureCause)}</p>;
  if (last?.status !== 'Success') return null;
  const [source] = path === undefined ? [] : (store.descriptions.get(path)?.sources ?? []);
  if (path === undefined || source === undefined) return null;
  const frame =
    source.id === undefined ? source.message : `${identifierOf(source.id, source.extended)} ${source.message}`;
  return (
    <p class="note">
      Confirmed by <span class="mono">{`${frame} › ${source.signal}`}</span>, which is {path}.
    </p>
  );
}

/** Returns the path whose value shows the effect of commands of this kind. */
function confirmingPath(kinds: readonly KindReport[], type: string): string | undefined {
  return kinds.find((kind) => kind.type === type)?.orders[0]?.confirmedBy;
}
