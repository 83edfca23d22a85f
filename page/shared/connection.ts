/** Requests to the car that serves the page, with the reader's credentials. EventSource cannot send credentials. */
import type { BenchReportEvent } from '../../protocol/interface/own/outbox.ts';

export interface Credentials {
  /** Value of the header `Authorization`. */
  readonly authorization: string;
  /** Fleet side: id of the program that sends the requests. */
  readonly clientId?: string;
}

/** Error: the server needs credentials. `scheme`: the scheme that it requests. */
export class SignInNeeded extends Error {
  readonly scheme: 'Basic' | 'Bearer';

  constructor(scheme: 'Basic' | 'Bearer') {
    super('The car wants to know who asks.');
    this.scheme = scheme;
  }
}

/** State of the agent's process on a bench. */
export type AgentState = NonNullable<BenchReportEvent['process']>;

/** Error response of the interface, with its message. */
export class Refused extends Error {
  readonly status: number;
  readonly requestId: string | undefined;
  /** State of the agent. Set if the bench responds because its agent is not running. */
  readonly agent: AgentState | undefined;

  constructor(status: number, message: string, requestId: string | undefined, agent?: AgentState) {
    super(message);
    this.status = status;
    this.requestId = requestId;
    this.agent = agent;
  }
}

export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

/** Longest silence of a stream in ms. The interface sends something, if only a comment, at least every 15 s. */
const MAX_SILENCE_MS = 20_000;
/** Reason for aborting a request that got no response within that time. */
const UNANSWERED =
  'No answer for 20 s. A browser opens six connections to one address: other windows that show it may hold them.';
/** Delay before the next attempt. */
const RETRY_DELAY_MS = 2_000;
/** Shortest time in ms from a response to the next request, even if many changes happen in between. */
const MIN_POLL_PAUSE_MS = 250;

let credentials: Credentials | undefined;
/** The car's clock minus this machine's, in ms. 0 if network delays can explain the difference. */
let clockOffset = 0;

/** Stores the credentials in memory until the page is closed. */
export function signIn(given: Credentials): void {
  credentials = given;
}

/** Reason why the sign-in at the identity provider failed. */
export let signInFault: string | undefined;

/** Reads the outcome of a sign-in if the browser has returned from the identity provider. */
export async function takeSignIn(): Promise<void> {
  if (!document.cookie.includes('vigie-signed-in=')) return;
  const response = await fetch('/vigie/v1/signed-in', { method: 'POST', cache: 'no-store' });
  const { token, fault } = (await response.json()) as { readonly token?: string; readonly fault?: string };
  if (token !== undefined) signIn({ authorization: `Bearer ${token}` });
  signInFault = fault;
}

/** Returns the side that the credentials are for. Tokens for fleets contain the fleets. A bench opens both sides. */
export function sideOfCredentials(): 'fleet' | 'user' {
  const [, token] = /^Bearer (.+)$/i.exec(credentials?.authorization ?? '') ?? [];
  return token === undefined || 'fleets' in claimsOf(token) ? 'fleet' : 'user';
}

/** Returns true if the reader signed in to the fleet side. Without access control, there is no sign-in. */
export function isFleetSignIn(): boolean {
  return credentials !== undefined && sideOfCredentials() === 'fleet';
}

/** Returns true if the credentials include this scope of a hub. Without access control, everybody has all scopes. */
export function hasScope(scope: string): boolean {
  if (credentials === undefined) return true;
  const [, token = ''] = /^Bearer (.+)$/i.exec(credentials.authorization) ?? [];
  const { scope: granted = '' } = claimsOf(token) as { readonly scope?: string };
  return granted.split(' ').includes(scope);
}

/** Returns the claims of a JWT (RFC 7519 §3); none for any other token, which the server refuses. */
function claimsOf(token: string): object {
  try {
    const claims: unknown = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

/** Returns the present time in UTC ms by the car's clock. */
export function carNow(): number {
  return Date.now() + clockOffset;
}

/** Time in ms between two comparisons of the clocks. When somebody sets a clock, streams stay open. */
const CLOCK_COMPARISON_INTERVAL_MS = 15_000;
/** Largest ordinary change in ms of wall minus monotonic time. Above it, the clock was set or the machine slept. */
const CLOCK_STEP_MS = 1_000;
/** Last comparison of the clocks: monotonic time of this machine, and wall time minus monotonic time. */
let compared = { at: Number.NEGATIVE_INFINITY, offset: 0 };

/** Requests the time of the car if this is due. Call once a second. */
export function compareClocks(): void {
  const now = performance.now();
  const isSet = Math.abs(Date.now() - now - compared.offset) > CLOCK_STEP_MS;
  if (document.visibilityState !== 'visible' || (!isSet && now - compared.at < CLOCK_COMPARISON_INTERVAL_MS)) return;
  noteComparison();
  // Any response contains the time. If there is none, the streams are lost too, and report the reason.
  ask('/vigie/v1/car', { method: 'HEAD' }).catch(() => undefined);
}

function noteComparison(): void {
  const at = performance.now();
  compared = { at, offset: Date.now() - at };
}

/** Sends a request. Rejects with SignInNeeded, Refused, or a TypeError if the car cannot be reached. */
export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const { authorization, clientId } = credentials ?? {};
  const query =
    clientId === undefined ? '' : `${path.includes('?') ? '&' : '?'}client_id=${encodeURIComponent(clientId)}`;
  const response = await fetch(`${path}${query}`, {
    cache: 'no-store',
    // Prevents the browser's own password dialog, which would cover the page. A bench on the LAN identifies browsers by
    // a cookie.
    credentials: document.cookie.includes('vigie-lan=') ? 'same-origin' : 'omit',
    ...options,
    headers: { ...options.headers, ...(authorization === undefined ? {} : { Authorization: authorization }) },
  });
  noteClock(response.headers.get('date'));
  if (response.ok) return response;
  if (response.status === 401) {
    const challenge = response.headers.get('www-authenticate') ?? '';
    throw new SignInNeeded(/^Bearer/i.test(challenge) ? 'Bearer' : 'Basic');
  }
  const { message, debug, agent } = refusalOf(await response.text());
  throw new Refused(
    response.status,
    message ?? debug ?? `It answered ${response.status}.`,
    response.headers.get('x-request-id') ?? undefined,
    agent,
  );
}

export function askJson<T>(path: string): Promise<T> {
  return answerOf<T>(path, {});
}

/** Reads the whole response. Fails after a time limit, so that a broken network does not block the page. */
async function answerOf<T>(path: string, options: RequestInit, outer?: AbortSignal): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(UNANSWERED)), MAX_SILENCE_MS);
  const end = (): void => late.abort();
  outer?.addEventListener('abort', end);
  try {
    return (await (await ask(path, { ...options, signal: late.signal })).json()) as T;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', end);
  }
}

export function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return answerOf<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A stream that was lost. */
export interface LostStream {
  /** Time when the stream was lost, in ms by the clock of this machine. */
  readonly since: number;
  readonly reason: string;
}

interface FollowOptions {
  readonly path: string;
  readonly event: (event: ServerEvent) => void;
  /** Called when the stream starts again. Its first events contain the full state. */
  readonly opened: () => void;
  readonly lost: (reason: Error) => void;
}

/** Reads a stream of server-sent events, and reconnects after each loss, until `signal` aborts. */
export async function follow({ path, event, opened, lost }: FollowOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await readOnce(path, opened, event, signal);
      lost(new Error('The car closed the stream.'));
    } catch (error) {
      if (signal.aborted) return;
      lost(error as Error);
      if (error instanceof SignInNeeded) return;
    }
    await beforeNextTry();
  }
}

/** Functions that end the waits before further attempts. */
const waits = new Set<() => void>();

export function beforeNextTry(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      waits.delete(end);
      resolve();
    };
    const timer = setTimeout(end, RETRY_DELAY_MS);
    waits.add(end);
  });
}

/** Retries lost streams and polls at once. Call after a change that may make them succeed. */
export function tryNow(): void {
  for (const end of [...waits]) end();
}

interface PollOptions<T> {
  readonly path: string | (() => string);
  /** Time in ms from a response to the next request. */
  readonly every: number | (() => number);
  /** Registers `ask`, to be called when an earlier request makes sense. Returns a function that removes it. */
  readonly woken?: (ask: () => void) => () => void;
  readonly answered: (answer: T) => void;
  readonly lost: (reason: Error) => void;
}

/** Polls until `signal` aborts, or until the reader must sign in. */
export async function poll<T>(options: PollOptions<T>, signal: AbortSignal): Promise<void> {
  const { path, every, woken, answered, lost } = options;
  let isDue = false;
  let goOn = (): void => undefined;
  const ends = woken?.(() => {
    isDue = true;
    goOn();
  });
  signal.addEventListener('abort', () => goOn());
  while (!signal.aborted) {
    isDue = false;
    let wait = RETRY_DELAY_MS;
    try {
      const answer = await answerOf<T>(typeof path === 'string' ? path : path(), {}, signal);
      if (signal.aborted) break;
      answered(answer);
      wait = MIN_POLL_PAUSE_MS;
    } catch (error) {
      if (signal.aborted) break;
      lost(error as Error);
      if (error instanceof SignInNeeded) break;
    }
    const begin = performance.now();
    await new Promise((resolve) => setTimeout(resolve, wait));
    // `every` can change during the wait.
    while (!signal.aborted && !isDue) {
      const rest = (typeof every === 'number' ? every : every()) - (performance.now() - begin);
      if (rest <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        goOn = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  ends?.();
}

/** Polls while the tab is visible. Returns a function that stops this. */
export function pollWhileVisible<T>(options: PollOptions<T>): () => void {
  return whileVisible((signal) => poll(options, signal).catch(options.lost));
}

/** Follows the stream while the tab is visible. Returns a function that stops this. */
export function followWhileVisible(options: FollowOptions): () => void {
  // `follow` reports a lost stream to `lost`.
  return whileVisible((signal) => follow(options, signal).catch(options.lost));
}

/** Starts `work` when the tab becomes visible, and aborts it when hidden. Returns a function that stops this. */
export function whileVisible(work: (signal: AbortSignal) => unknown): () => void {
  let abort = new AbortController();
  const turn = (): void => {
    abort.abort();
    abort = new AbortController();
    if (document.visibilityState === 'visible') work(abort.signal);
  };
  turn();
  document.addEventListener('visibilitychange', turn);
  return () => {
    document.removeEventListener('visibilitychange', turn);
    abort.abort();
  };
}

async function readOnce(
  path: string,
  opened: () => void,
  event: (event: ServerEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(new Error(UNANSWERED)), MAX_SILENCE_MS);
  try {
    const headers = { Accept: 'text/event-stream' };
    const { body } = await ask(path, { headers, signal: AbortSignal.any([signal, silent.signal]) });
    if (body === null) return;
    opened();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(new Error('The stream was silent for 20 s.')), MAX_SILENCE_MS);
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const parsed = parseEvent(part);
        if (parsed !== undefined) event(parsed);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

function parseEvent(text: string): ServerEvent | undefined {
  let name = 'message';
  let data: string | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data = line.slice(6);
  }
  return data === undefined ? undefined : { name, data: JSON.parse(data) };
}

/** Updates the clock offset. The response header has whole seconds, so differences below two seconds are ignored. */
function noteClock(date: string | null): void {
  const difference = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (!Number.isFinite(difference)) return;
  clockOffset = Math.abs(difference) < 2_000 ? 0 : difference;
  noteComparison();
}

/** Returns an empty object if the text does not come from the interface, for example if it is the page of a proxy. */
function refusalOf(text: string): { message?: string; debug?: string; agent?: AgentState } {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
