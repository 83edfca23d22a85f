/** The class of a trip for logbooks, which the hub keeps. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type TripClass, tripClasses } from '../../protocol/interface/own/trip-classes.ts';
import { hasScope, post } from '../shared/connection.ts';
import { pathOfCar, type Trip } from './journey-records.ts';

const names: Readonly<Record<TripClass, string>> = { business: 'Business', private: 'Private', commute: 'Commute' };

export function TripClassChoice({ trip }: { readonly trip: Trip }): JSX.Element {
  const { id, class: read = 'none' } = trip;
  /** The choice, until the page has read it from the hub. */
  const [kept, setKept] = useState<string>();
  const [fault, setFault] = useState<string>();
  useEffect(() => setKept(undefined), [id, read]);
  const choose = (to: string): void => {
    setFault(undefined);
    post(`${pathOfCar()}/trip-classes/${encodeURIComponent(id)}?class=${to}`, {}).then(
      () => setKept(to),
      (error: Error) => setFault(error.message),
    );
  };
  return (
    <>
      <label class="note">
        Class of the trip{' '}
        <select
          class="field"
          value={kept ?? read}
          disabled={!hasScope('hub:trip:write')}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="none">None</option>
          {tripClasses.map((one) => (
            <option key={one} value={one}>
              {names[one]}
            </option>
          ))}
        </select>
      </label>
      {fault !== undefined && (
        <p class="remark bad" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}
