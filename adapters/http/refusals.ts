import type { Log } from '../../agent/ports.ts';
import { type ErrorCode, VigieError } from '../../protocol/errors.ts';
import { refusalStatus, xError } from '../../protocol/interface/refusal.ts';
import { TooManyRequests } from './access/failures.ts';
import { type HttpExchange, openExchange, type RequestContext, respond } from './exchange.ts';

const JSON_TYPE = 'application/json';
/** Retry-After in seconds if the database is unavailable: its server restarts within seconds. */
const UNAVAILABLE_RETRY_S = 5;

/** Returns the response to a request that failed for any reason; logs internal errors. */
export function refuse(env: RequestContext['env'], cause: unknown, log: Log): Response {
  const { exchange } = env;
  const error = documented(exchange, vigieError(cause));
  const status = refusalStatus(error.code);
  if (status >= 500) {
    log.error('http.failed', { id: exchange.id, operation: exchange.operation?.id, ...causeFields(cause) });
  }
  const body = JSON.stringify(xError(exchange.side, error, { uuid: exchange.id, now: exchange.now }));
  const retry = retryAfterOf(error, status);
  return respond(env, status, body, {
    'Content-Type': JSON_TYPE,
    ...(retry === undefined ? {} : { 'Retry-After': retry }),
    ...(error instanceof TooManyRequests ? { 'X-RateLimit-Reset': String(error.retryAfter) } : {}),
  });
}

/** Returns the delay in seconds before a retry, for a condition that ends without intervention. */
function retryAfterOf(error: VigieError, status: number): string | undefined {
  if (error instanceof TooManyRequests) return String(error.retryAfter);
  return status === 503 ? String(UNAVAILABLE_RETRY_S) : undefined;
}

interface RawRefusal {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the response (400) to an unreadable request, in the formats of both sides, as its side is unknown. */
export function refuseUnread(reason: string, now: number): RawRefusal {
  const { id: uuid, headers } = openExchange({ address: 'http://localhost/', secure: false, asked: undefined, now });
  const error = new VigieError('input.malformed', reason);
  const body = { ...xError('user', error, { uuid, now }), ...xError('fleet', error, { uuid, now }) };
  return { headers: { ...headers, 'Content-Type': JSON_TYPE }, body: JSON.stringify(body) };
}

function vigieError(cause: unknown): VigieError {
  return cause instanceof VigieError ? cause : new VigieError('internal', 'something went wrong', { cause });
}

/** Replaces an error that the operation does not document, because clients would not understand the response. */
function documented({ operation }: HttpExchange, error: VigieError): VigieError {
  const status = refusalStatus(error.code);
  if (operation === undefined || status === 405 || operation.errors.includes(status)) return error;
  const general: ErrorCode = status < 500 ? 'input.malformed' : 'internal';
  return new VigieError(general, error.message, { cause: error });
}

/** Returns log fields: the message of the error, its cause, and for an unexpected error the stack. */
function causeFields(cause: unknown): Record<string, unknown> {
  if (!(cause instanceof Error)) return { error: String(cause) };
  const behind = cause.cause instanceof Error ? cause.cause : undefined;
  return {
    error: cause.message,
    ...(behind === undefined ? {} : { cause: behind.message }),
    ...(cause instanceof VigieError ? {} : { stack: cause.stack?.split('\n').slice(1, 6).join('\n') }),
  };
}
