/**
 * Facts about a release of the published interface: operations, parameters, models and enumerations by name. Read from
 * `generated/`, which `write.ts` creates from the shared digest of the interface.
 */
import { readFileSync } from 'node:fs';
import type { Side } from '../../../../protocol/interface/operation.ts';

export const releases: Readonly<Record<Side, string>> = { fleet: 'fleet-3.19.2', user: 'user-4.17.2' };

/** A published type: the JSON Schema keywords that the interface uses; empty if nothing is published. */
export interface Model {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  /** For strings: `date-time`, or the published pattern in its place. */
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: string | number | boolean;
  readonly properties?: Readonly<Record<string, Model>>;
  readonly required?: readonly string[];
  readonly items?: Model;
  readonly allOf?: readonly Model[];
  readonly oneOf?: readonly Model[];
  /** `#/$defs/NAME`. */
  readonly $ref?: string;
}

export interface PublishedParameter {
  readonly in: string;
  readonly name: string;
  readonly required: boolean;
  readonly schema: Model;
}

export interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly deprecated: boolean;
  readonly scopes: readonly string[];
  readonly parameters: readonly PublishedParameter[];
  /** Name of the model of the request body. */
  readonly body?: string;
  /** Success statuses. */
  readonly statuses: readonly number[];
  /** Media type and model of the answer; omitted without a body or a description. */
  readonly media?: string;
  readonly schema?: string;
}

export interface Facts {
  readonly operations: readonly PublishedOperation[];
  readonly models: Readonly<Record<string, Model>>;
  /** Values by the place of the enumeration, e.g. `DoorsStateBase.opening.state`. */
  readonly enumerations: Readonly<Record<string, readonly string[]>>;
}

const folder = new URL('generated/', import.meta.url);

/** @throws Error if there are no facts for the release */
export function factsOf(release: string): Facts {
  return JSON.parse(readFileSync(new URL(`${release}.json`, folder), 'utf8')) as Facts;
}

/** Operators that each data name of a monitor accepts; the names are without `vehicle.`. */
export function operatorsByData(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL('monitor-operators.json', folder), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Record<string, readonly string[]>));
}

/** Number of entries under `2 Vehicle`, `3 States` and so on in the requirements for the service. */
export function requestedEntries(): ReadonlyMap<string, number> {
  const text = readFileSync(new URL('requested-entries.json', folder), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Record<string, number>));
}
