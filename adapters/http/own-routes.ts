/** Routes outside the published interface: changes of Status, and reports about the car and about Vigie itself. */

import type { ServerResponse } from 'node:http';
import { VigieError } from '../../protocol/errors.ts';
import { bases } from '../../protocol/interface/operation.ts';
import type { CarDescription, LinkReport, PushKey } from '../../protocol/interface/own/car-description.ts';
import type { CommandHistory, CommandRequest, CommandsReport } from '../../protocol/interface/own/commands.ts';
import type { BenchReportEvent, OutboxReport } from '../../protocol/interface/own/outbox.ts';
import { remoteLack } from '../../protocol/interface/remotes.ts';
import { scopeOfPath, seesOf } from '../../protocol/interface/visible-members.ts';
import { findRemoteKind } from '../../protocol/remote/table.ts';
import { isRecord } from '../../protocol/slots.ts';
import { readJson } from './body.ts';
import type { Caller } from './call.ts';
import { type RequestContext, respond } from './exchange.ts';
import type { LiveChanges } from './live.ts';
import { acceptable, EVENT_STREAM as EVENTS, requireJson } from './media.ts';
import type { Router } from './routes.ts';
import type { SnapshotEvents, Snapshots } from './snapshots.ts';

/** Reports about the car and about Vigie itself. Each is read when it is requested. */
export interface OwnView {
  car(): CarDescription;
  link(): LinkReport;
  readonly commands: OwnCommands;
  outbox(): OutboxReport;
  /** Public key with which browsers subscribe. If omitted, the car sends no push notifications. */
  readonly pushKey?: string | undefined;
  /** Controls and scenes of the simulated car. Absent in real cars. */
  readonly bench?: BenchControls;
  /** Loads the code that streams bus frames. If omitted, clients cannot stream them. */
  readonly bus?: () => Promise<BusStreams>;
}

/** Parts that can be unplugged, by their field in the report. */
const benchPlugs = ['broker', 'car', 'process'] as const;
export type BenchPlug = (typeof benchPlugs)[number];

export interface BenchControls {
  report(): BenchReportEvent;
  /** Resolves after the change. Rejects with `input.malformed` if the bench has no such part. */
  plug(plug: BenchPlug, wanted: boolean): Promise<void>;
  /** Makes the simulated car play one of the scenes in the report. */
  play?(scene: string): void;
}

/** Commands to the car, and their outcomes. */
export interface OwnCommands {
  /** @param sees returns true if the caller has the scope */
  report(sees: (scope: string) => boolean): CommandsReport;
  history(): CommandHistory;
  /** Submits a command in the name of this caller. Rejects like {@link RemoteBook.submit}. */
  submit(request: CommandRequest, caller: string): Promise<{ readonly remoteActionId: string }>;
}

/** Events of one stream. `begin` starts and `end` stops receiving frames; each is called once. */
export interface FollowedEvents {
  readonly events: SnapshotEvents;
  begin(): void;
  end(): void;
}

export interface BusStreams {
  frames(): FollowedEvents;
  /** @throws VigieError `input.malformed` for a name other than `BUS/IDENTIFIER/SIGNAL` of a signal in the DBC files */
  signals(asked: readonly string[]): FollowedEvents;
}

const JSON_TYPE = 'application/json';

/** Adds the stream of Status changes, for callers who may read the status of a vehicle. */
export function addLive(router: Router, live: LiveChanges): void {
  const serve = (context: RequestContext, caller: Caller): Response => {
    acceptable([EVENTS], context.req.header('accept'));
    const sees = seesOf(caller);
    const stream = live.open(({ path }) => sees(scopeOfPath(path)), caller.expires);
    return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
  };
  for (const path of [...Object.values(bases), '']) router.add('GET', `${path}/live`, serve, STREAM);
}

/** Vigie's own streams have no parameters. */
const STREAM = { stream: true, known: [] } as const;

/** Adds the routes below `/vigie/v1`. */
export function addOwnRoutes(router: Router, view: OwnView, snapshots: Snapshots): void {
  const addRead = (path: string, read: () => unknown): void => {
    const serve = ({ env, req }: RequestContext): Response => {
      const media = acceptable([JSON_TYPE], req.header('accept'));
      return respond(env, 200, JSON.stringify(read()), { 'Content-Type': media ?? JSON_TYPE });
    };
    router.add('GET', path, serve, { known: [] });
  };
  addRead('/vigie/v1/car', () => view.car());
  addRead('/vigie/v1/push-key', (): PushKey => (view.pushKey === undefined ? {} : { publicKey: view.pushKey }));
  addSnapshots(router, '/vigie/v1/agent', snapshots, () => ({ link: () => view.link() }));
  addCommands(router, view.commands, snapshots);
  addOutbox(router, view, snapshots);
}

/** Adds a stream of states; `eventsOf` returns those that the caller may see. */
function addSnapshots(
  router: Router,
  path: string,
  snapshots: Snapshots,
  eventsOf: (caller: Caller) => SnapshotEvents,
): void {
  const serve = (context: RequestContext, caller: Caller): Response => {
    acceptable([EVENTS], context.req.header('accept'));
    const stream = snapshots.open(eventsOf(caller), caller.expires);
    return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
  };
  router.add('GET', path, serve, STREAM);
}

/** Adds `/vigie/v1/outbox`, and the controls of a bench. */
export function addOutbox(
  router: Router,
  { outbox, bench }: Pick<OwnView, 'outbox' | 'bench'>,
  snapshots: Snapshots,
): void {
  const events = { outbox, ...(bench === undefined ? {} : { bench: () => bench.report() }) };
  addSnapshots(router, '/vigie/v1/outbox', snapshots, () => events);
  if (bench === undefined) return;
  const change = async ({ env }: RequestContext): Promise<Response> => {
    await changeBench(bench, await readSent(env));
    return respond(env, 200, JSON.stringify(bench.report()), { 'Content-Type': JSON_TYPE });
  };
  router.add('POST', '/vigie/v1/bench', change, { known: [] });
}

/** Reads the JSON body of the request. */
function readSent({ incoming, outgoing }: RequestContext['env']): Promise<unknown> {
  requireJson(incoming.headers['content-type'], incoming.headers['content-encoding']);
  return readJson(incoming, outgoing as ServerResponse, LONGEST_COMMAND);
}

/** Applies the change in the body. @throws VigieError `input.malformed` unless the bench supports it */
async function changeBench(bench: BenchControls, wanted: unknown): Promise<void> {
  if (isRecord(wanted) && 'scene' in wanted && bench.play !== undefined) {
    const { scene } = wanted;
    const { scenes = [] } = bench.report();
    if (typeof scene !== 'string' || !scenes.includes(scene)) {
      throw new VigieError('input.malformed', `scene: must be one of ${scenes.join(', ')}`);
    }
    return bench.play(scene);
  }
  const plug = benchPlugs.find((name) => isRecord(wanted) && name in wanted);
  const on = isRecord(wanted) && plug !== undefined ? wanted[plug] : undefined;
  if (plug === undefined || typeof on !== 'boolean') {
    throw new VigieError('input.malformed', `${plug ?? benchPlugs.join(' or ')}: must be true or false`);
  }
  await bench.plug(plug, on);
}

/** Maximum size in bytes of a command body: a route with its places. */
const LONGEST_COMMAND = 65_536;

function addCommands(router: Router, commands: OwnCommands, snapshots: Snapshots): void {
  addSnapshots(router, '/vigie/v1/commands', snapshots, ({ scopes }) => ({
    commands: () => commands.report((scope) => scopes?.has(scope) ?? true),
    history: () => commands.history(),
  }));
  const submit = async ({ env }: RequestContext, { name, scopes }: Caller): Promise<Response> => {
    const request = readCommand(await readSent(env));
    const lack = remoteLack(request, scopes);
    if (lack !== undefined) throw new VigieError('request.forbidden', lack);
    const taken = await commands.submit(request, name);
    return respond(env, 202, JSON.stringify(taken), { 'Content-Type': JSON_TYPE });
  };
  router.add('POST', '/vigie/v1/commands', submit, { known: [] });
}

/** @throws VigieError `input.malformed` unless `type` is known and `body` is an object; the car checks the body */
function readCommand(given: unknown): CommandRequest {
  if (!isRecord(given)) throw new VigieError('input.malformed', 'body: must be an object with type and body');
  const { type, body } = given as Readonly<Record<string, unknown>>;
  const kind = typeof type === 'string' ? findRemoteKind(type) : undefined;
  if (kind === undefined) throw new VigieError('input.malformed', 'type: must be a kind of command, such as Doors');
  if (!isRecord(body)) throw new VigieError('input.malformed', 'body: must be an object, such as {"state": "Locked"}');
  return { type: kind.type, body };
}
