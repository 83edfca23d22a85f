/** Collisions, alarms, thefts and warnings that nobody has seen yet. They stay until a person says so, in each browser. */
import type { JSX } from 'preact';
import { useReducer } from 'preact/hooks';
import { store } from '../car-store.ts';
import { numberOf, timeOf } from '../format.ts';
import { useRecords, useTopics } from '../hooks.ts';
import { type JourneyEvent, readIncidents } from '../journey.ts';
import { keep, readKept } from '../kept.ts';
import { codeInWords, languageOfNames } from '../words.ts';

const DAY = 86_400_000;
/** Incidents that are older are in the journey only, ms. */
const SPAN = 31 * DAY;
/** Time between two readings, ms; what the page sees in the values is read at once. */
const EVERY = 5_000;
/** Rows of the list. */
const MOST_ROWS = 4;

export interface Unseen {
  /** Newest first. */
  readonly incidents: readonly JourneyEvent[];
  /** Why they are not known. */
  readonly fault?: string | undefined;
  readonly see: (incidents: readonly JourneyEvent[]) => void;
}

export function useUnseen(): Unseen {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useTopics('connection');
  const { vin } = store.car ?? {};
  const { data, fault } = useRecords(
    async () => (vin === undefined ? [] : await readIncidents(SPAN)),
    EVERY,
    vin,
    'event',
    'alarm.trigger.type',
    'stolen.state',
  );
  const key = `seen ${vin}`;
  const seen = new Set((readKept(key) ?? '').split('\n'));
  return {
    incidents: (data ?? []).filter(({ id }) => !seen.has(id)),
    fault,
    see: (incidents) => {
      // Those that are too old to be read again are forgotten.
      const known = (data ?? []).map(({ id }) => id).filter((id) => seen.has(id));
      keep(key, [...known, ...incidents.map(({ id }) => id)].join('\n'));
      redraw(undefined as never);
    },
  };
}

/** Class of the mark of an incident. */
function markOf({ kind, severity }: JourneyEvent): 'bad' | 'warn' {
  return kind === 'Alert' && severity !== 'Critical' ? 'warn' : 'bad';
}

/** Incidents that say the same are one row, which shows the newest: a list of one door must not hide a collision. */
function rowsOf(incidents: readonly JourneyEvent[]): (readonly [JourneyEvent, ...JourneyEvent[]])[] {
  const rows = new Map<string, [JourneyEvent, ...JourneyEvent[]]>();
  for (const incident of incidents) {
    const key = `${incident.kind} ${incident.text}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [incident]);
    else row.push(incident);
  }
  return [...rows.values()];
}

export function Incidents({ incidents, fault, see }: Unseen): JSX.Element {
  const rows = rowsOf(incidents);
  const shown = rows.slice(0, MOST_ROWS);
  const rest = rows.length - shown.length;
  const isLost = fault !== undefined && store.connection.state === 'live';
  return (
    <div class="notices" aria-live="polite">
      {isLost && <p class="strip">The page cannot read collisions, alarms, thefts and warnings: {fault}</p>}
      {shown.length > 0 && (
        <section class="panel incidents" aria-labelledby="incidents-title" lang={languageOfNames()}>
          <header>
            <h2 id="incidents-title">{codeInWords('page', 'unseen')}</h2>
            {incidents.length > 1 && (
              <button type="button" class="btn small seen" onClick={() => see(incidents)}>
                {codeInWords('page', 'allSeen')} ({numberOf(incidents.length, 1)})
              </button>
            )}
          </header>
          <ul>
            {shown.map((row) => {
              const [incident] = row;
              return (
                <li key={incident.id}>
                  <i class={`mark ${markOf(incident)}`} aria-hidden="true" />
                  <span>
                    <b class={markOf(incident) === 'bad' ? 'bad' : undefined}>{incident.text}</b>{' '}
                    <span class="note">
                      {row.length > 1 && `${numberOf(row.length, 1)} ×, `}
                      {whenOf(incident.from)}
                      {incident.open && `, ${codeInWords('page', 'ongoing')}`}
                    </span>
                  </span>
                  <button
                    type="button"
                    class="btn small seen"
                    aria-label={`${codeInWords('page', 'seen')}: ${incident.text}`}
                    onClick={() => see(row)}
                  >
                    {codeInWords('page', 'seen')}
                  </button>
                </li>
              );
            })}
          </ul>
          {rest > 0 && <p class="note more-incidents">{`+ ${numberOf(rest, 1)}`}</p>}
        </section>
      )}
    </div>
  );
}

/** The time; another day with its date. */
function whenOf(at: number): string {
  const date = new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return date === new Date().toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
    ? timeOf(at)
    : `${date}, ${timeOf(at)}`;
}
