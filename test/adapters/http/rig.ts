/** A real server on the loopback interface with the real table of operations and simple handlers. */
import { type Dispatcher, request } from 'undici';
import { onTestFinished } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import type { Answer, Call, Handler, Handlers } from '../../../adapters/http/call.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../../adapters/http/server.ts';
import type { Operation } from '../../../protocol/interface/operation.ts';
import { operations } from '../../../protocol/interface/operations.ts';
import { MemoryLog } from '../../rig/log.ts';

/** Answers with the published status, and echoes the request. */
export function echo({ operation, path, query, headers, body, caller, base, self }: Call): Answer {
  const [status = '200'] = Object.keys(operation.answers);
  if (status === '204') return { status: 204 };
  const { name, scopes, fleets } = caller;
  const who = { name, scopes: scopes && [...scopes], fleets: fleets && [...fleets] };
  return { status: Number(status), body: { id: operation.id, path, query, headers, body, caller: who, base, self } };
}

/** A handler for every operation: `own`, else the echo. */
export function handlersOf(table: readonly Operation[], own: Readonly<Record<string, Handler>> = {}): Handlers {
  return Object.fromEntries(table.map(({ id }) => [id, own[id] ?? echo]));
}

export interface Rig extends RunningServer {
  readonly log: MemoryLog;
  get(path: string, headers?: Record<string, string>): Promise<Got>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Got>;
}

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Rates that no test reaches. */
export const unlimited = { perDay: 1e9, perSecond: 1e9, maxBodyBytes: 2 ** 20 };

/** Starts a server that ends with the test; the default has no access control. */
export async function startRig(options: Partial<ServerOptions> = {}): Promise<Rig> {
  const log = new MemoryLog();
  const gate = new LocalGate();
  const table = options.operations ?? operations;
  const server = await startServer({
    operations: table,
    handlers: handlersOf(table),
    gates: { fleet: gate, user: gate },
    host: '127.0.0.1',
    port: 0,
    ...unlimited,
    clock: new SystemClock(),
    log,
    ...options,
  });
  onTestFinished(() => server.stop());
  const send: Rig['send'] = (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetchJson(`${server.url}${path}`, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...json, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  };
  return { ...server, log, send, get: (path, headers) => send('GET', path, undefined, headers) };
}

export async function fetchJson(url: string, options: Parameters<typeof request>[1]): Promise<Got> {
  const { statusCode, headers, body } = await request(url, options);
  const text = await body.text();
  return { status: statusCode, headers: headers as Got['headers'], text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
