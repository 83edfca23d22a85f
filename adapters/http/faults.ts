/** Fault codes of the car over HTTP, under a separate base: not part of the published interface. */
import type { FaultView } from '../../agent/faults/recorder.ts';
import { VigieError } from '../../protocol/errors.ts';
import { faultsJson } from '../../protocol/interface/json/faults.ts';
import { ownParameters } from './address.ts';
import { type RequestContext, respond } from './exchange.ts';
import type { Router } from './routes.ts';

const PATH = '/vigie/v1/faults';

/** Maximum number of records in a response, unless the request sets a lower limit. */
export const MOST_FAULTS = 1_000;

/** `GET /vigie/v1/faults` */
export function addFaults(router: Router, view: FaultView): void {
  const known = ['active', 'limit'];
  const serve = ({ env }: RequestContext): Response => {
    const query = ownParameters(env.exchange.target.query, known);
    const wanted = activeOf(query.get('active'));
    const limit = limitOf(query.get('limit'));
    const records = view.all().filter(({ active }) => wanted === undefined || active === wanted);
    const body = faultsJson(
      records.slice(0, limit).map((record) => ({ record })),
      records.length > limit,
    );
    return respond(env, 200, JSON.stringify(body), { 'Content-Type': 'application/json' });
  };
  router.add('GET', PATH, serve, { known });
}

function activeOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new VigieError('input.malformed', 'must be true or false', { where: 'active' });
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return MOST_FAULTS;
  const limit = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && limit >= 1 && limit <= MOST_FAULTS) return limit;
  throw new VigieError('input.malformed', `must be a whole number from 1 to ${MOST_FAULTS}`, { where: 'limit' });
}
