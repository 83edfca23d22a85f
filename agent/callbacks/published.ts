/** Values of the core as the interface publishes them in JSON: moments as RFC 3339, fixed members put in. */

import type { TSchema } from '../../protocol/schema/fields.ts';
import { DAY, daysOf } from '../../protocol/schema/monitor/civil.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly prefixItems?: readonly Node[];
  readonly const?: unknown;
  readonly 'x-instant'?: boolean;
  readonly 'x-constant'?: boolean;
}

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

/** RFC 3339 date-time in UTC with milliseconds. `at` is UTC ms, of the years 1970 to 9999. */
export function rfc3339(at: number): string {
  const moment = Math.round(at);
  const days = Math.floor(moment / DAY);
  const time = moment - days * DAY;
  let year = 1970 + Math.floor(days / 365.2425);
  while (daysOf({ year, month: 1, day: 1 }) > days) year--;
  while (daysOf({ year: year + 1, month: 1, day: 1 }) <= days) year++;
  let month = 12;
  while (daysOf({ year, month, day: 1 }) > days) month--;
  const day = days - daysOf({ year, month, day: 1 }) + 1;
  const [hour, minute, second] = [Math.floor(time / 3_600_000), Math.floor(time / 60_000) % 60, time / 1000];
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  const fraction = digits(time % 1000, 3);
  return `${date}T${digits(hour, 2)}:${digits(minute, 2)}:${digits(Math.floor(second) % 60, 2)}.${fraction}Z`;
}

/** `value`, which follows `schema`, as it is published. What the schema does not know is left out. */
export function published(schema: TSchema, value: unknown): unknown {
  return publish(schema as unknown as Node, value);
}

function publish(node: Node, value: unknown): unknown {
  if (node['x-instant'] === true) return rfc3339(value as number);
  if (Array.isArray(value)) {
    return value.map((item, index) => publish(node.items ?? node.prefixItems?.[index] ?? {}, item));
  }
  const { properties } = node;
  if (properties === undefined || typeof value !== 'object' || value === null) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    if (given[name] !== undefined) members[name] = publish(member, given[name]);
    else if (member['x-constant'] === true && node.required?.includes(name)) members[name] = member.const;
  }
  return members;
}
