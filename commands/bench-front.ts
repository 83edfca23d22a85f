/** HTTP interface of a bench whose agent has its own process: serves page and plugs, forwards all other requests. */

import { request } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type RequestContext, respond } from '../adapters/http/exchange.ts';
import { addOutbox, type BenchControls } from '../adapters/http/own-routes.ts';
import { type RunningServer, startServer } from '../adapters/http/server.ts';
import { Snapshots } from '../adapters/http/snapshots.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { BENCH_LIMITS, findDocuments, type LanServing, localServing } from '../assembly/interface.ts';
import { defined } from '../protocol/defined.ts';
import type { OutboxReport } from '../protocol/interface/own/outbox.ts';

/** The agent in its separate process. */
export interface FrontAgent {
  /** Port of the agent's interface; undefined while the agent does not run. */
  readonly port: number | undefined;
  /** ID of the agent's process; undefined without a process. */
  readonly pid: number | undefined;
  /** The agent's response for `/vigie/v1/car`, which never changes; undefined if the agent was never ready. */
  readonly description: string | undefined;
}

export interface BenchFrontOptions {
  readonly port: number;
  readonly lan?: LanServing | undefined;
  /** Address of the map tiles. If undefined, the page loads none. */
  readonly tiles: string | undefined;
  readonly agent: FrontAgent;
  readonly outbox: () => OutboxReport;
  readonly bench: BenchControls;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts the server. Rejects as {@link startServer} does. */
export async function startFront(options: BenchFrontOptions): Promise<Pick<RunningServer, 'stop'>> {
  const { port, lan, tiles, agent, outbox, bench, clock, log } = options;
  const snapshots = new Snapshots(clock);
  const documents = findDocuments(log);
  const server = await startServer({
    operations: [],
    handlers: {},
    port,
    ...BENCH_LIMITS,
    ...localServing(lan),
    ...(documents === undefined ? {} : { documents: { ...documents, ...(tiles && { tiles }) } }),
    routes: (router) => addOutbox(router, { outbox, bench }, snapshots),
    others: (context) => forward(context, agent),
    clock,
    log,
  });
  return {
    stop: async () => {
      snapshots.close();
      await server.stop();
    },
  };
}

/** Headers that this server has checked itself and does not forward, and hop-by-hop headers. */
const OWN_HEADERS = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'connection', 'keep-alive'];

/** Forwards the request to the agent, and returns the agent's response. */
function forward({ env, req }: RequestContext, agent: FrontAgent): Promise<Response> | Response {
  const { port } = agent;
  if (port === undefined) return instead(env, req.path, agent);
  const { incoming, outgoing, exchange } = env;
  const kept = Object.entries(incoming.headers).filter(([name]) => !OWN_HEADERS.includes(name));
  const asked = request({
    host: '127.0.0.1',
    port,
    method: incoming.method,
    path: incoming.url,
    headers: { ...Object.fromEntries(kept), host: `127.0.0.1:${port}` },
    agent: false,
  });
  const answered = new Promise<Response>((resolve) => {
    asked.once('response', (answer) => {
      const { statusCode = 502, headers } = answer;
      const { connection: _, 'keep-alive': __, ...rest } = headers;
      const { 'Strict-Transport-Security': transport } = exchange.headers;
      exchange.status = statusCode;
      outgoing.writeHead(statusCode, {
        ...rest,
        ...defined({ 'Strict-Transport-Security': transport }),
      });
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      // The agent was killed during its response, or the client has disconnected.
      answer.once('error', () => outgoing.destroy());
      outgoing.once('close', () => asked.destroy());
      resolve(RESPONSE_ALREADY_SENT);
    });
    asked.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else resolve(instead(env, req.path, agent));
    });
  });
  incoming.pipe(asked);
  return answered;
}

/** Responds while the agent is not running, so that the page still shows the name of the car. */
function instead(env: RequestContext['env'], path: string, { port, pid, description }: FrontAgent): Response {
  const json = { 'Content-Type': 'application/json' };
  if (path === '/vigie/v1/car' && description !== undefined) return respond(env, 200, description, json);
  const [agent, message] =
    pid !== undefined && port === undefined
      ? ['starts', 'the agent is starting: ask again in a moment']
      : ['ended', 'the agent was killed: start it again on the page, under The wire'];
  return respond(env, 503, JSON.stringify({ message, agent }), { ...json, 'Retry-After': '2' });
}
