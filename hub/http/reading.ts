/** Definitions of the hub's own operations under `/vigie/v1`. They admit tokens of fleets and of users. */
import { accessTo } from '../../protocol/interface/access.ts';
import type { Operation, Parameter } from '../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../protocol/interface/operations/making.ts';
import { pathParameters } from '../../protocol/interface/parameters/path.ts';

export function query(name: string, description: string, schema: object): Parameter {
  return { name, in: 'query', required: false, description, schema };
}

interface ReadingOptions {
  readonly parameters?: readonly Parameter[];
  /** Media type of the response. Default: JSON. */
  readonly media?: string;
  /** Description of the response. Default: requested data. */
  readonly description?: string;
}

/** Defines an operation that only reads. */
export function reading(id: string, path: string, summary: string, options: ReadingOptions = {}): Operation {
  const { media = JSON_MEDIA, description = 'Requested data.', ...rest } = options;
  const reads = { method: 'GET', answers: { 200: { description, media } } } as const;
  return operation(id, path, { summary, ...reads, ...rest });
}

type Written = Pick<Operation, 'summary' | 'answers'> & Partial<Pick<Operation, 'parameters'>>;

/** Defines an operation that changes something and has no body. */
export function writing(id: string, path: string, given: Written): Operation {
  const made = operation(id, path, { method: 'POST', ...given });
  return { ...made, errors: [...made.errors, 507] };
}

/** @throws Error if the table of access rights has no row for the operation */
function operation(id: string, path: string, given: Written & Pick<Operation, 'method'>): Operation {
  const { method, summary, answers, parameters = [] } = given;
  const row = accessTo('hub', method, path);
  if (row === undefined) throw new Error(`${method} ${path} has no row in the table of access`);
  return {
    id,
    side: 'fleet',
    method,
    path,
    tag: 'Hub',
    summary,
    parameters: [...pathParameters(path), ...parameters],
    answers,
    errors: [400, 401, 403, ...(path.includes('{') ? [404] : []), 406, 421, 429, 500, 503],
    scopes: row.scopes,
  };
}
