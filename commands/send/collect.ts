/** Parses command-line words for collections, which record signals for a limited time. */

import { readYamlFile } from '../../config/document.ts';
import { readDuration } from '../../config/quantities.ts';
import { encodeBody } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import type { CollectedSignal, CollectOrder } from '../../protocol/schema/collect.ts';
import { type Details, duration, faulty, named, type SendRequest, timeOf, wrong } from './request.ts';

export const collectUsage =
  'collect start NAME [BUS:]MESSAGE.SIGNAL… --until TIME [--interval TIME] [--while CONDITION] | file FILE | stop NAME…';

/** Returns undefined for invalid words. */
export function collectionsOf(
  word: string | undefined,
  rest: readonly string[],
  details: Details,
): SendRequest[] | undefined {
  const [name, ...signals] = rest;
  if (name === undefined) return undefined;
  if (word === 'stop') return rest.map((one) => ({ kind: 'Collect', body: { name: named(one), signals: [] } }));
  if (word === 'file') return signals.length > 0 ? undefined : [collectionIn(name)];
  if (word !== 'start' || signals.length === 0) return undefined;
  const { until, interval, while: condition } = details;
  if (until === undefined) throw wrong('a collection needs an end: give --until, such as --until 2h');
  const body: CollectOrder = {
    name: named(name),
    signals: signals.map(signalOf),
    until: endOf(until, '--until'),
    ...(interval === undefined ? {} : { interval: timeOf(interval, '--interval') }),
    ...(condition === undefined ? {} : { while: conditionOf(condition) }),
  };
  return [{ kind: 'Collect', body }];
}

function signalOf(text: string): CollectedSignal {
  const [, bus, signal] = /^(?:([^\s:]+):)?([^\s.:]+\.[^\s.]+)$/.exec(text) ?? [];
  if (signal === undefined) throw wrong(`"${text}" is not a signal like MOTION.Speed, can:MOTION.Speed or MOTION.*`);
  return { signal, ...defined({ bus }) };
}

/** Returns the end in UTC ms that a duration from now, or a date-time, describes. */
function endOf(text: string, what: string): number {
  if (duration.test(text)) return Date.now() + readDuration(text);
  const isDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isDateTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw wrong(`${what} must be a time from now such as 2h, or such as 2026-11-23T18:00:00Z, is ${text}`);
  if (at <= Date.now()) throw wrong(`${what} is in the past: ${text}`);
  return at;
}

function conditionOf(text: string): NonNullable<CollectOrder['while']> {
  const [, path = '', sign = '', value = ''] = /^([^\s<>=]+)(>=|<=|=)(.+)$/.exec(text) ?? [];
  if (sign === '=') return { path, equals: value };
  const bound = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(bound)) {
    throw wrong(`--while must be such as kinetic.speed>=10 or ignition.type=Start, is ${text}`);
  }
  return { path, ...(sign === '>=' ? { atLeast: bound } : { atMost: bound }) };
}

/** Reads a file with the command's fields. Times are durations or date-times; a signal may be only its name. */
function collectionIn(file: string): SendRequest {
  const { contents, diagnostics } = readYamlFile(file);
  if (contents === undefined) throw faulty(file, diagnostics);
  const { data } = contents;
  try {
    const body = withTimes(data);
    encodeBody('Collect', body);
    if (body.signals.length === 0) throw wrong('signals is empty: `collect stop NAME` ends a collection');
    if (body.until === undefined) throw wrong('until is missing, such as until: 2h');
    return { kind: 'Collect', body };
  } catch (error) {
    throw wrong(`${file} was not sent: ${(error as Error).message}`);
  }
}

function withTimes(data: unknown): CollectOrder {
  const { until, interval, signals, ...rest } = membersOf(data, 'the file');
  const listed = Array.isArray(signals) ? signals : [];
  const time = (name: string, value: unknown) => (value === undefined ? {} : { [name]: timeOf(String(value), name) });
  return {
    ...rest,
    ...(until === undefined ? {} : { until: endOf(String(until), 'until') }),
    ...time('interval', interval),
    signals: listed.map((one) => {
      if (typeof one === 'string') return signalOf(one);
      const { interval: every, heartbeat, ...more } = membersOf(one, 'a signal');
      return { ...more, ...time('interval', every), ...time('heartbeat', heartbeat) };
    }),
  } as CollectOrder;
}

function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw wrong(`${what} must have members such as name, until and signals`);
}
