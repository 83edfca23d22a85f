/** Format of error responses: xError of the requested side. Interface 3.19.2 and 4.17.2 xError. */
import { type ErrorCode, factOf, VigieError } from '../errors.ts';
import { dateTime } from './json/date-time.ts';
import type { Side } from './operation.ts';
import { integer, type JsonSchema, object, string } from './schemas/json.ts';

/** Statuses of errors. The last two are additions: the database is unavailable, the disk accepts no more data. */
export const refusalStatuses = [400, 401, 403, 404, 405, 406, 413, 415, 421, 429, 500, 503, 507] as const;

/** Meanings of the statuses, for the document. */
export const refusalMeanings: Readonly<Record<number, string>> = {
  400: 'A parameter or a member of the body breaks a rule, which the message names.',
  401: 'The request does not prove whose it is.',
  403: 'The caller may not do this.',
  404: 'There is no such resource.',
  405: 'The address does not accept this method.',
  406: 'No media type of the answer is acceptable.',
  413: 'The body is too large.',
  415: 'The body is of another media type.',
  421: 'The request names a host that this server is not.',
  429: 'Too many requests; `Retry-After` has the time to wait.',
  500: 'A fault of the server.',
  503: 'The server cannot answer now; `Retry-After` has the time to wait.',
  507: 'The disk of the car refuses writes.',
};

interface FleetRefusal {
  /** HTTP status × 100 + number. */
  readonly code: number;
  readonly uuid: string;
  readonly message: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

interface UserRefusal {
  readonly code: number;
  /** Code of the error and id of the request. */
  readonly debug: string;
  readonly message: string;
}

interface Refused {
  /** Id of the request, as in the log. */
  readonly uuid: string;
  /** UTC ms. */
  readonly now: number;
}

/**
 * Returns the body of an error response. Below 500 it contains the message of the error; from 500 on only the meaning
 * of the code, because the caller must not learn about internal faults of the car.
 */
export function xError(side: Side, error: VigieError | ErrorCode, { uuid, now }: Refused): FleetRefusal | UserRefusal {
  const name = error instanceof VigieError ? error.code : error;
  const code = refusalCode(name);
  const { meaning } = factOf(name);
  const message = error instanceof VigieError && code < 50_000 ? error.message : meaning;
  return side === 'fleet'
    ? { code, uuid, message, timestamp: dateTime(now) }
    : { code, debug: `${name} ${uuid}`, message };
}

/** Returns the HTTP status of an error. */
export function refusalStatus(error: ErrorCode): number {
  return Math.floor(refusalCode(error) / 100);
}

/** Returns the code of an error, or the general code of its class if no operation may return its status. */
function refusalCode(error: ErrorCode): number {
  const { http } = factOf(error);
  const status = Math.floor(http / 100);
  if (refusalStatuses.some((known) => known === status)) return http;
  return status < 500 ? 40_000 : 50_000;
}

const code = integer('HTTP status × 100 + number within the status.', { minimum: 40_000, maximum: 59_999 });
const message = string('The error, for people.');
const required = ['code', 'message'];

/** Schemas of the bodies, by side. */
export const refusalSchemas: Readonly<Record<Side, JsonSchema>> = {
  fleet: object('xError', 'Why a request is refused. Interface 3.19.2 xError.', required, {
    code,
    uuid: string('Id of the request.'),
    message,
    timestamp: string('When it was. RFC 3339.'),
  }),
  user: object('xError', 'Why a request is refused. Interface 4.17.2 xError.', required, {
    code,
    debug: string('Name of the error and id of the request.'),
    message,
  }),
};
