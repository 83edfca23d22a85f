/** How the hub publishes what it lets read under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation, Parameter } from '../../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../../protocol/interface/operations/making.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';

export function query(name: string, description: string, schema: object): Parameter {
  return { name, in: 'query', required: false, description, schema };
}

export interface ReadingOptions {
  readonly parameters?: readonly Parameter[];
  /** Of the answer; default: JSON. */
  readonly media?: string;
  /** Default: requested data. */
  readonly description?: string;
  /** The caller may lack the right. */
  readonly forbids?: boolean;
}

export function reading(id: string, path: string, summary: string, options: ReadingOptions = {}): Operation {
  const { parameters = [], media = JSON_MEDIA, description = 'Requested data.', forbids = false } = options;
  return {
    id,
    side: 'fleet',
    method: 'GET',
    path,
    tag: 'Hub',
    summary,
    parameters: [...pathParameters(path), ...parameters],
    answers: { 200: { description, media } },
    errors: [400, 401, ...(forbids ? [403] : []), ...(path.includes('{') ? [404] : []), 406, 421, 429, 500],
    scopes: noScopes,
  };
}
