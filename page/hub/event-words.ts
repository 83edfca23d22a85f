/** Describes an event of a car as a sentence without a subject. */
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { stateInWords, titleOf } from '../shared/command-words.ts';
import { numberOf } from '../shared/format.ts';
import { wordsOfImpact } from '../shared/incident-words.ts';
import { codeInWords, valueInWords, wordsNow } from '../shared/words.ts';

interface EventLabel {
  readonly text: string;
  /** CSS class of the mark. */
  readonly mark: 'good' | 'warn' | 'bad' | 'plain';
}

type Body = FleetEvent['body'];
const textAt = (body: Body, ...path: readonly string[]): string | undefined => {
  let value: unknown = body;
  for (const name of path) value = (value as Body | undefined)?.[name];
  return value === undefined ? undefined : String(value);
};

const labels: Readonly<Partial<Record<FleetEvent['kind'], (body: Body) => EventLabel>>> = {
  trip: ({ distance }) => ({
    text: typeof distance === 'number' ? `ended a trip of ${numberOf(distance, 0.1)} km` : 'ended a trip',
    mark: 'plain',
  }),
  alert: ({ type, active }) => ({
    text: active === true ? `warns: ${codeInWords('alerts', type)}` : `no longer warns: ${codeInWords('alerts', type)}`,
    mark: active === true ? 'warn' : 'plain',
  }),
  collision: ({ details }) => {
    const sides = Array.isArray(details)
      ? details.map(({ side, severity }) => wordsOfImpact(wordsNow(), side, severity))
      : [];
    return { text: ['had a collision', ...sides].join(': '), mark: 'bad' };
  },
  maintenance: ({ daysBeforeMaintenance: days, mileageBeforeMaintenance: km }) => ({
    text: `needs a service${typeof days === 'number' ? ` in ${numberOf(days, 1)} days` : ''}${typeof km === 'number' ? ` or ${numberOf(km, 1)} km` : ''}`,
    mark: 'plain',
  }),
  alarm: (body) => {
    const trigger = textAt(body, 'trigger', 'type');
    if (trigger !== undefined && trigger !== 'NoBreakIn')
      return { text: `alarm: ${valueInWords('alarm.trigger.type', trigger)}`, mark: 'bad' };
    const state = textAt(body, 'status', 'activation');
    return {
      text: state === undefined ? 'alarm ended' : `alarm ${valueInWords('alarm.status.activation', state)}`,
      mark: 'plain',
    };
  },
  stolen: ({ state }) => ({
    text: state === true ? 'counts as stolen' : 'no longer counts as stolen',
    mark: state === true ? 'bad' : 'good',
  }),
  event: (body) => ({ text: `monitor ${textAt(body, 'monitorId') ?? ''} triggered`, mark: 'warn' }),
  remote: ({ type, status, failureCause }) => ({
    text: `${titleOf(String(type))}: ${stateInWords(String(status), failureCause as string | undefined)}`,
    mark: status === 'Failed' ? 'bad' : 'good',
  }),
  gap: ({ count, lost }) => ({
    text: `gave up ${String(count)} ${lost === undefined ? '' : `${String(lost)} `}${count === 1 ? 'message' : 'messages'}`,
    mark: 'bad',
  }),
  fault: ({ code, active }) => ({
    text: `${active === true ? 'reports the fault' : 'no longer reports the fault'} ${String(code)}`,
    mark: active === true ? 'warn' : 'plain',
  }),
};

export function labelOfEvent({ kind, body }: FleetEvent): EventLabel {
  return labels[kind]?.(body) ?? { text: kind, mark: 'plain' };
}
