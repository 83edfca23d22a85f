/**
 * `GET /health` on the interface, for load balancers and monitoring without credentials. Reports whether the hub can
 * store messages of cars, without details about cars or causes.
 */

import { type RequestContext, respond } from '../../adapters/http/exchange.ts';
import type { Router } from '../../adapters/http/routes.ts';
import type { Clock } from '../../agent/ports.ts';

/** Time in ms for which the response is cached, so that callers without credentials cause no load on the database. */
const LASTS_MS = 1_000;

/** @param check rejects if the hub cannot store messages of cars */
export function addHealth(router: Router, check: () => Promise<void>, clock: Pick<Clock, 'monotonic'>): void {
  let last: { readonly until: number; readonly healthy: Promise<boolean> } | undefined;
  const isHealthy = (): Promise<boolean> => {
    if (last === undefined || clock.monotonic() >= last.until) {
      const healthy = check().then(
        () => true,
        () => false,
      );
      last = { until: clock.monotonic() + LASTS_MS, healthy };
    }
    return last.healthy;
  };
  const answer = async ({ env }: RequestContext): Promise<Response> => {
    const healthy = await isHealthy();
    const body = `${JSON.stringify({ status: healthy ? 'ok' : 'failing' })}\n`;
    return respond(env, healthy ? 200 : 503, body, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
    });
  };
  router.add('GET', '/health', answer, { known: [] });
}
