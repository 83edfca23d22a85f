/** State of the exits over HTTP, and a test of their receivers: not part of the published interface. */
import type { Clock } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import type { ExitReport, ExitsReport, ExitTest } from '../../protocol/interface/own/exits.ts';
import { readSegments } from './address.ts';
import { type RequestContext, respond } from './exchange.ts';
import type { Router } from './routes.ts';

/** A running exit. */
export interface ServedExit {
  report(): ExitReport;
  /** Resolves when the receiver has confirmed a message that changes nothing. Rejects with the reason if it does not. */
  test(): Promise<void>;
}

const PATH = '/vigie/v1/exits';
const TEST_PATH = `${PATH}/{name}/test`;
/** Maximum duration of a test in ms: longer than each receiver's own time limit. */
const MAX_TEST_MS = 35_000;
const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** Adds `GET /vigie/v1/exits` and `POST /vigie/v1/exits/{name}/test`. Reads `exits` at each request. */
export function addExits(router: Router, exits: readonly ServedExit[], clock: Clock): void {
  const list = ({ env }: RequestContext): Response => {
    const body: ExitsReport = { exits: exits.map((exit) => exit.report()) };
    return respond(env, 200, JSON.stringify(body), JSON_HEADERS);
  };
  const test = async ({ env }: RequestContext): Promise<Response> => {
    const { name } = readSegments(TEST_PATH, env.exchange.target.path);
    const exit = exits.find((one) => one.report().name === name);
    if (exit === undefined) throw new VigieError('request.unknown', 'there is no such exit');
    return respond(env, 200, JSON.stringify(await testOf(exit, clock)), JSON_HEADERS);
  };
  router.add('GET', PATH, list, { known: [] });
  router.add('POST', TEST_PATH, test, { known: [] });
}

async function testOf(exit: ServedExit, clock: Clock): Promise<ExitTest> {
  const began = clock.monotonic();
  let cancel: () => void = () => undefined;
  const late = new Promise<string>((resolve) => {
    cancel = clock.after(MAX_TEST_MS, () => resolve(`no answer within ${MAX_TEST_MS / 1_000} s`));
  });
  const reason = await Promise.race([exit.test().then(() => undefined, reasonOf), late]);
  cancel();
  return { succeeded: reason === undefined, ms: Math.round(clock.monotonic() - began), ...defined({ reason }) };
}
