/** Links in responses. Each refers to an operation, and is omitted if the caller may not call that operation. */

import { scopesOf } from '../../../protocol/interface/access.ts';
import type { Operation } from '../../../protocol/interface/operation.ts';
import { lackOf } from '../../../protocol/interface/operations/scopes.ts';
import { operationById } from '../../../protocol/interface/operations.ts';
import type { Context } from './context.ts';

/** Link (interface 3.19.2). */
export interface ResourceLink {
  readonly href: string;
  /** True if `href` contains names in braces that the client must replace by ids (RFC 6570 level 1). */
  readonly templated?: true;
}
type Links = Readonly<Record<string, ResourceLink | readonly ResourceLink[] | undefined>>;

/**
 * Returns the link to an operation; `name` omits the side, e.g. `trips.get`. Path parameters come from `more`,
 * otherwise from the request and the car; those in `open` remain as a template. Returns undefined if the caller lacks
 * the operation's scopes, or if the operation needs a vehicle and the request has none.
 */
export function linkTo(
  context: Context,
  name: string,
  more: Readonly<Record<string, string>> = {},
  open: readonly string[] = [],
): ResourceLink | undefined {
  const operation = operationOf(context, name);
  if (!allowed(context, operation) || lacksVehicle(context, operation, [...Object.keys(more), ...open]))
    return undefined;
  const href = hrefOf(context, operation, more, open);
  return open.length === 0 ? { href } : { href, templated: true };
}

/** Returns the address of an operation that the caller may call; see {@link linkTo}. */
export function addressOf(context: Context, name: string, more: Readonly<Record<string, string>> = {}): string {
  return hrefOf(context, operationOf(context, name), more, []);
}

/** Returns the link to the request itself. */
export function selfOf({ call }: Context): ResourceLink {
  return { href: `${call.base}${call.self}` };
}

/** Removes undefined links. */
export function linksOf(links: Links): Record<string, ResourceLink | readonly ResourceLink[]> {
  return Object.fromEntries(Object.entries(links).filter(([, link]) => link !== undefined)) as Record<
    string,
    ResourceLink
  >;
}

function operationOf({ side }: Context, name: string): Operation {
  const operation = operationById.get(`${side}.${name}`);
  if (operation === undefined) throw new Error(`no operation ${side}.${name} to link to`);
  return operation;
}

function allowed({ call }: Context, operation: Operation): boolean {
  const granted = call.caller.scopes;
  return granted === undefined || lackOf(scopesOf(operation), granted) === undefined;
}

/** Returns true if a vehicle is needed but missing. Happens only at a hub: in a car, the default is that car. */
function lacksVehicle({ car }: Context, { path }: Operation, given: readonly string[]): boolean {
  if (car.vehicle.id !== '') return false;
  return ['vid', 'id', 'vin'].some((name) => path.includes(`{${name}}`) && !given.includes(name));
}

function hrefOf(
  { call, car, fleet }: Context,
  { path }: Operation,
  more: Readonly<Record<string, string>>,
  open: readonly string[],
): string {
  const known: Readonly<Record<string, string | undefined>> = {
    ...call.path,
    fid: fleet?.id,
    vid: car.vehicle.id,
    id: car.vehicle.id,
    vin: car.vehicle.vin,
    ...more,
  };
  const filled = path.replace(/\{(\w+)\}/g, (written, name: string) => {
    if (open.includes(name)) return written;
    const value = known[name];
    if (value === undefined) throw new Error(`a link to ${path} lacks ${name}`);
    return encodeURIComponent(value);
  });
  return `${call.base}${filled}`;
}
