/**
 * Unseen collisions, alarms, thefts and warnings. They stay until a person confirms them; each browser stores this
 * separately.
 */
import type { JSX } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type IncidentAddress, incidentOfAddress } from '../shared/addresses.ts';
import { store } from '../shared/car-store.ts';
import { numberOf, timeOf } from '../shared/format.ts';
import { useRecords, useTopics } from '../shared/hooks.ts';
import { keep, readKept } from '../shared/kept.ts';
import { codeInWords, languageOfNames } from '../shared/words.ts';
import { type JourneyEvent, readIncidents } from './journey-records.ts';

const DAY_MS = 86_400_000;
/** Age limit. Older incidents appear only in the journey. */
const SHOWN_SPAN_MS = 31 * DAY_MS;
/** Time in ms between two reads. The page also reads immediately after a change of a related value. */
const POLL_INTERVAL_MS = 5_000;
/** Largest difference in time for which two records are the same incident. */
const MAX_TIME_DIFFERENCE_MS = 600_000;
/** Largest number of rows in the list. */
const MAX_ROWS = 4;

interface Unseen {
  /** Newest first. */
  readonly incidents: readonly JourneyEvent[];
  /** Incident in the address of the page, which a notification opened. The reader may already have confirmed it. */
  readonly addressed?: JourneyEvent | undefined;
  /** Reason why the incidents are unknown. */
  readonly fault?: string | undefined;
  readonly see: (incidents: readonly JourneyEvent[]) => void;
}

export function useUnseen(): Unseen {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useTopics('connection');
  const { vin } = store.car ?? {};
  const { data, fault } = useRecords(
    async () => (vin === undefined ? [] : await readIncidents(SHOWN_SPAN_MS)),
    POLL_INTERVAL_MS,
    vin,
    'event',
    'alarm.trigger.type',
    'stolen.state',
  );
  const asked = useIncidentAddress();
  const key = `seen ${vin}`;
  const seen = new Set((readKept(key) ?? '').split('\n'));
  return {
    incidents: (data ?? []).filter(({ id }) => !seen.has(id)),
    addressed: asked === undefined || asked.vin !== vin ? undefined : nearest(data ?? [], asked),
    fault,
    see: (incidents) => {
      // Drop ids of incidents that are too old to be read again.
      const known = (data ?? []).map(({ id }) => id).filter((id) => seen.has(id));
      keep(key, [...known, ...incidents.map(({ id }) => id)].join('\n'));
      redraw(undefined as never);
    },
  };
}

function useIncidentAddress(): IncidentAddress | undefined {
  const [address, setAddress] = useState(incidentOfAddress(location.hash));
  useEffect(() => {
    const changed = (): void => setAddress(incidentOfAddress(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return address;
}

/** Returns the nearest incident. A notification has the time of the event, which differs from the record's. */
function nearest(incidents: readonly JourneyEvent[], { kind, at }: IncidentAddress): JourneyEvent | undefined {
  const distance = ({ from }: JourneyEvent): number => Math.abs(from - at);
  const [first] = incidents
    .filter((one) => one.kind === kind && distance(one) <= MAX_TIME_DIFFERENCE_MS)
    .sort((a, b) => distance(a) - distance(b));
  return first;
}

/** Returns the CSS class of the mark of an incident. */
function markOf({ kind, severity }: JourneyEvent): 'bad' | 'warn' {
  return kind === 'Alert' && severity !== 'Critical' ? 'warn' : 'bad';
}

/**
 * Groups incidents that have the same text in one row, which shows the newest of them, so that repeated messages do not
 * hide a collision. If the page was opened for an incident, its row is the first and shows it.
 */
function rowsOf(
  incidents: readonly JourneyEvent[],
  addressed: JourneyEvent | undefined,
): (readonly [JourneyEvent, ...JourneyEvent[]])[] {
  const others = incidents.filter(({ id }) => id !== addressed?.id);
  const rows = new Map<string, [JourneyEvent, ...JourneyEvent[]]>();
  for (const incident of addressed === undefined ? incidents : [addressed, ...others]) {
    const key = `${incident.kind} ${incident.text}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [incident]);
    else row.push(incident);
  }
  return [...rows.values()];
}

export function Incidents({ incidents, addressed, fault, see }: Unseen): JSX.Element {
  const rows = rowsOf(incidents, addressed);
  const shown = rows.slice(0, MAX_ROWS);
  const rest = rows.length - shown.length;
  const element = useRef<HTMLLIElement>(null);
  // If the reader opened the page for this incident, move the focus to it.
  useEffect(() => element.current?.focus(), [addressed?.id]);
  const isLost = fault !== undefined && store.connection.state === 'live';
  return (
    <div class="notices" aria-live="polite">
      {isLost && <p class="strip">The page cannot read collisions, alarms, thefts and warnings: {fault}</p>}
      {shown.length > 0 && (
        <section class="panel incidents" aria-labelledby="incidents-title" lang={languageOfNames()}>
          <header>
            <h2 id="incidents-title">{codeInWords('page', incidents.length > 0 ? 'unseen' : 'incident')}</h2>
            {incidents.length > 1 && (
              <button type="button" class="btn small seen" onClick={() => see(incidents)}>
                {codeInWords('page', 'allSeen')} ({numberOf(incidents.length, 1)})
              </button>
            )}
          </header>
          <ul>
            {shown.map((row) => {
              const [incident] = row;
              const isAddressed = incident.id === addressed?.id;
              return (
                <li
                  key={incident.id}
                  {...(isAddressed ? { ref: element, tabIndex: -1, 'aria-current': 'true' as const } : {})}
                >
                  <i class={`mark ${markOf(incident)}`} aria-hidden="true" />
                  <span>
                    <b class={markOf(incident) === 'bad' ? 'bad' : undefined}>{incident.text}</b>{' '}
                    <span class="note">
                      {row.length > 1 && `${numberOf(row.length, 1)} ×, `}
                      {whenOf(incident.from)}
                      {incident.open && `, ${codeInWords('page', 'ongoing')}`}
                    </span>
                  </span>
                  {row.some((one) => incidents.includes(one)) && (
                    <button
                      type="button"
                      class="btn small seen"
                      aria-label={`${codeInWords('page', 'seen')}: ${incident.text}`}
                      onClick={() => see(row)}
                    >
                      {codeInWords('page', 'seen')}
                    </button>
                  )}
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

/** Formats the time, with the date if it is not today. */
function whenOf(at: number): string {
  const date = new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return date === new Date().toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
    ? timeOf(at)
    : `${date}, ${timeOf(at)}`;
}
