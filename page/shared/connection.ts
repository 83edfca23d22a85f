/** Requests to the car that serves the page, with the credentials that the reader gave. EventSource cannot send any. */
import type { BenchReportEvent } from '../../protocol/interface/own/outbox.ts';

export interface Credentials {
  /** Value of the header `Authorization`. */
  readonly authorization: string;
  /** Fleet side: id of the program that asks. */
  readonly clientId?: string;
}

/** The server wants to know who asks; `scheme`: how it wants to be shown that. */
export class SignInNeeded extends Error {
  readonly scheme: 'Basic' | 'Bearer';

  constructor(scheme: 'Basic' | 'Bearer') {
    super('The car wants to know who asks.');
    this.scheme = scheme;
  }
}

/** State of the process of a bench’s agent. */
export type AgentState = NonNullable<BenchReportEvent['process']>;

/** Refusal of the interface, in its own words. */
export class Refused extends Error {
  readonly status: number;
  readonly requestId: string | undefined;
  /** The bench answers in place of its agent, which does not run. */
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

/** The interface sends at least a comment every 15 s; a stream that is silent for longer is lost. */
const MAX_SILENCE_MS = 20_000;
/** Reason for ending a request without an answer within that time. */
const UNANSWERED =
  'No answer for 20 s. A browser opens six connections to one address: other windows that show it may hold them.';
/** Wait before the next attempt. */
const RETRY_DELAY_MS = 2_000;
/** Least time from an answer to the next request, however much happens between. */
const MIN_POLL_PAUSE_MS = 250;

let credentials: Credentials | undefined;
/** The car's clock minus this machine's, ms; differences that a network explains count as none. */
let clockOffset = 0;

/** Kept until the page is closed, in memory only. */
export function signIn(given: Credentials): void {
  credentials = given;
}

/** Why the identity provider did not sign the reader in. */
export let signInFault: string | undefined;

/** Takes what became of a sign-in that the browser comes back from, if it does. */
export async function takeSignIn(): Promise<void> {
  if (!document.cookie.includes('vigie-signed-in=')) return;
  const response = await fetch('/vigie/v1/signed-in', { method: 'POST', cache: 'no-store' });
  const { token, fault } = (await response.json()) as { readonly token?: string; readonly fault?: string };
  if (token !== undefined) signIn({ authorization: `Bearer ${token}` });
  signInFault = fault;
}

/** The side of the interface that the credentials open; both are open on the bench. A hub's tokens for fleets name them. */
export function sideOfCredentials(): 'fleet' | 'user' {
  const [, token] = /^Bearer (.+)$/i.exec(credentials?.authorization ?? '') ?? [];
  return token === undefined || 'fleets' in claimsOf(token) ? 'fleet' : 'user';
}

/** The reader signed in for the fleet side. Where access is open there is no sign-in, and both sides answer. */
export function isFleetSignIn(): boolean {
  return credentials !== undefined && sideOfCredentials() === 'fleet';
}

/** Whether the credentials have a scope of a hub; where the hub is open, everybody has all. */
export function hasScope(scope: string): boolean {
  if (credentials === undefined) return true;
  const [, token = ''] = /^Bearer (.+)$/i.exec(credentials.authorization) ?? [];
  const { scope: granted = '' } = claimsOf(token) as { readonly scope?: string };
  return granted.split(' ').includes(scope);
}

/** Claims of a JWT (RFC 7519 §3); empty for another token, which the server refuses. */
function claimsOf(token: string): object {
  try {
    const claims: unknown = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

/** The time by the car's clock, UTC ms. */
export function carNow(): number {
  return Date.now() + clockOffset;
}

/** A stream stays open when somebody sets a clock, so the page asks for the time regularly. */
const CLOCK_COMPARISON_INTERVAL_MS = 15_000;
/** Wall less monotonic time of this machine changes by more when its clock is set, or when it has slept. */
const CLOCK_STEP_MS = 1_000;
/** When the clocks were last compared, by the monotonic clock of this machine, and its wall time less that. */
let compared = { at: Number.NEGATIVE_INFINITY, offset: 0 };

/** Asks the car for its time if that is due; call it once a second. */
export function compareClocks(): void {
  const now = performance.now();
  const isSet = Math.abs(Date.now() - now - compared.offset) > CLOCK_STEP_MS;
  if (document.visibilityState !== 'visible' || (!isSet && now - compared.at < CLOCK_COMPARISON_INTERVAL_MS)) return;
  noteComparison();
  // Any answer brings the time. Without one the streams are lost too, and report why.
  ask('/vigie/v1/car', { method: 'HEAD' }).catch(() => undefined);
}

function noteComparison(): void {
  const at = performance.now();
  compared = { at, offset: Date.now() - at };
}

/** Rejects with SignInNeeded, Refused, or a TypeError when the car cannot be reached. */
export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const { authorization, clientId } = credentials ?? {};
  const query =
    clientId === undefined ? '' : `${path.includes('?') ? '&' : '?'}client_id=${encodeURIComponent(clientId)}`;
  const response = await fetch(`${path}${query}`, {
    cache: 'no-store',
    // The browser's own dialog for passwords would cover the page. A bench in the local network knows browsers by a cookie.
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

/** The whole answer, which a broken network must not keep the page waiting for. */
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

/** A stream that the page no longer has. */
export interface LostStream {
  /** By the clock of this machine, ms. */
  readonly since: number;
  readonly reason: string;
}

interface FollowOptions {
  readonly path: string;
  readonly event: (event: ServerEvent) => void;
  /** The stream begins again: its first events are the whole state. */
  readonly opened: () => void;
  readonly lost: (reason: Error) => void;
}

/** Reads a stream of server-sent events, and again whenever it is lost, until `signal` aborts. */
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

/** Ends the waits before the next attempts. */
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

/** Something has changed: what was lost is tried again at once. */
export function tryNow(): void {
  for (const end of [...waits]) end();
}

interface PollOptions<T> {
  readonly path: string | (() => string);
  /** Time from an answer to the next request, ms. */
  readonly every: number | (() => number);
  /** Calls `ask` when there may be another answer before that; the result ends that. */
  readonly woken?: (ask: () => void) => () => void;
  readonly answered: (answer: T) => void;
  readonly lost: (reason: Error) => void;
}

/** Asks again and again until `signal` aborts, or until the reader has to sign in. */
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
    // When the wait ends depends on what happens during it.
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

/** Polls while the tab can be seen; the result ends that. */
export function pollWhileVisible<T>(options: PollOptions<T>): () => void {
  return whileVisible((signal) => poll(options, signal).catch(options.lost));
}

/** Follows while the tab can be seen; the result ends that. */
export function followWhileVisible(options: FollowOptions): () => void {
  // A lost stream reports itself to `lost`.
  return whileVisible((signal) => follow(options, signal).catch(options.lost));
}

function whileVisible(work: (signal: AbortSignal) => unknown): () => void {
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

/** The header has whole seconds; a difference below two of them is no difference. */
function noteClock(date: string | null): void {
  const difference = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (!Number.isFinite(difference)) return;
  clockOffset = Math.abs(difference) < 2_000 ? 0 : difference;
  noteComparison();
}

/** Empty for what is not of the interface, such as the page of a proxy. */
function refusalOf(text: string): { message?: string; debug?: string; agent?: AgentState } {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
