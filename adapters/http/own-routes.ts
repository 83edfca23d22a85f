/** Addresses beside the published interface: changes of Status, and what Vigie says of the car and of itself. */
import type { ServerResponse } from 'node:http';
import { VigieError } from '../../protocol/errors.ts';
import { bases, type Operation, type Side, sides } from '../../protocol/interface/operation.ts';
import { noScopes } from '../../protocol/interface/operations/scopes.ts';
import type { CarDescription, LinkReport } from '../../protocol/interface/own/car-description.ts';
import type { CommandHistory, CommandRequest, CommandsReport } from '../../protocol/interface/own/commands.ts';
import type { BenchReportEvent, OutboxReport } from '../../protocol/interface/own/outbox.ts';
import { remoteLack } from '../../protocol/interface/remotes.ts';
import { findRemoteKind } from '../../protocol/remote/table.ts';
import { ownParameters, readPairs } from './address.ts';
import { readJson } from './body.ts';
import type { Caller } from './call.ts';
import { type App, type RequestContext, refuseHead, respond } from './exchange.ts';
import type { LiveChanges } from './live.ts';
import { acceptable, EVENT_STREAM as EVENTS, requireJson } from './media.ts';
import { addRefusal } from './routes.ts';
import type { Serving } from './serving.ts';
import type { SnapshotEvents, Snapshots } from './snapshots.ts';

/** What Vigie says of the car and of itself; everything is read when somebody asks. */
export interface OwnView {
  car(): CarDescription;
  link(): LinkReport;
  readonly commands: OwnCommands;
  outbox(): OutboxReport;
  /** What a person may unplug, and let the simulated car do; absent in a car. */
  readonly bench?: BenchControls;
  /** Loads what follows the buses; absent: they cannot be followed. */
  readonly bus?: () => Promise<BusStreams>;
}

/** What can be unplugged, by its member of the report. */
const benchPlugs = ['broker', 'car', 'process'] as const;
export type BenchPlug = (typeof benchPlugs)[number];

export interface BenchControls {
  report(): BenchReportEvent;
  /** Resolves when it is so. Rejects with `input.malformed` where the bench has no broker or process of its own for that. */
  plug(plug: BenchPlug, wanted: boolean): Promise<void>;
  /** Lets the simulated car do one of the scenes of the report. */
  play?(scene: string): void;
}

/** What the car can be asked, and what became of it. */
export interface OwnCommands {
  /** @param sees whether the caller has a scope */
  report(sees: (scope: string) => boolean): CommandsReport;
  history(): CommandHistory;
  /** Gives the command to the car. Rejects as {@link RemoteBook.submit} does. */
  submit(request: CommandRequest): Promise<{ readonly remoteActionId: string }>;
}

/** What one stream says. Frames are listened to from `begin` to `end`, each called once. */
export interface FollowedEvents {
  readonly events: SnapshotEvents;
  begin(): void;
  end(): void;
}

export interface BusStreams {
  frames(): FollowedEvents;
  /** @throws VigieError `input.malformed` for a signal that is not `BUS/IDENTIFIER/SIGNAL` of the DBC */
  signals(asked: readonly string[]): FollowedEvents;
}

export interface OwnRoutes {
  readonly app: App;
  readonly serving: Serving;
  /** Those of the sides that are served. */
  readonly enabled: readonly Operation[];
}

const JSON_TYPE = 'application/json';
const GET = ['GET'];

/** Who may read the state of a vehicle may follow it. */
export function addLive(routes: OwnRoutes, live: LiveChanges): void {
  const { app } = routes;
  const serve = async (side: Side, context: RequestContext): Promise<Response> => {
    refuseHead(context);
    const caller = await admitReader(routes, side, context);
    const granted = (scope: string): boolean => caller.scopes?.has(scope) ?? true;
    const [telemetry, position] = [granted('data:telemetry'), granted('data:position')];
    acceptable([EVENTS], context.req.header('accept'));
    const sees = ({ path }: { readonly path: string }) => (path.startsWith('lastPosition.') ? position : telemetry);
    const stream = live.open(sees, caller.expires);
    return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
  };
  const paths = { fleet: `${bases.fleet}/live`, user: `${bases.user}/live` };
  for (const side of sides) app.get(paths[side], (context) => serve(side, context));
  app.get('/live', (context) => serve(sideShown(routes, context), context));
  for (const path of [...Object.values(paths), '/live']) addRefusal(app, path, GET);
}

/** `/vigie/v1`. */
export function addOwnRoutes(routes: OwnRoutes, view: OwnView, snapshots: Snapshots): void {
  const { app } = routes;
  app.get('/vigie/v1/car', async (context) => {
    await admitReader(routes, sideShown(routes, context), context);
    const media = acceptable([JSON_TYPE], context.req.header('accept'));
    return respond(context.env, 200, JSON.stringify(view.car()), { 'Content-Type': media ?? JSON_TYPE });
  });
  addRefusal(app, '/vigie/v1/car', ['GET', 'HEAD']);
  app.get('/vigie/v1/agent', async (context) => {
    refuseHead(context);
    const { expires } = await admitReader(routes, sideShown(routes, context), context);
    acceptable([EVENTS], context.req.header('accept'));
    const stream = snapshots.open({ link: () => view.link() }, expires);
    return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
  });
  addRefusal(app, '/vigie/v1/agent', GET);
  addCommands(routes, view.commands, snapshots);
  addOutbox(routes, view, snapshots);
}

/** `/vigie/v1/outbox`, and the plugs of a bench. */
export function addOutbox(
  routes: OwnRoutes,
  { outbox, bench }: Pick<OwnView, 'outbox' | 'bench'>,
  snapshots: Snapshots,
): void {
  const { app } = routes;
  app.get('/vigie/v1/outbox', async (context) => {
    refuseHead(context);
    const { expires } = await admitReader(routes, sideShown(routes, context), context);
    acceptable([EVENTS], context.req.header('accept'));
    const events = { outbox, ...(bench === undefined ? {} : { bench: () => bench.report() }) };
    return respond(context.env, 200, snapshots.open(events, expires), { 'Content-Type': EVENTS });
  });
  addRefusal(app, '/vigie/v1/outbox', GET);
  if (bench === undefined) return;
  app.post('/vigie/v1/bench', async (context) => {
    const { incoming, outgoing } = context.env;
    await admit(routes, sideShown(routes, context), context, { scopes: noScopes });
    requireJson(incoming.headers['content-type'], incoming.headers['content-encoding']);
    const wanted = await readJson(incoming, outgoing as ServerResponse, LONGEST_COMMAND);
    await changeBench(bench, wanted);
    return respond(context.env, 200, JSON.stringify(bench.report()), { 'Content-Type': JSON_TYPE });
  });
  addRefusal(app, '/vigie/v1/bench', ['POST']);
}

/** @throws VigieError `input.malformed` unless the body asks for a change that the bench can make */
async function changeBench(bench: BenchControls, wanted: unknown): Promise<void> {
  if (isObject(wanted) && 'scene' in wanted && bench.play !== undefined) {
    const { scene } = wanted;
    const { scenes = [] } = bench.report();
    if (typeof scene !== 'string' || !scenes.includes(scene)) {
      throw new VigieError('input.malformed', `scene: must be one of ${scenes.join(', ')}`);
    }
    return bench.play(scene);
  }
  const plug = benchPlugs.find((name) => isObject(wanted) && name in wanted);
  const on = isObject(wanted) && plug !== undefined ? wanted[plug] : undefined;
  if (plug === undefined || typeof on !== 'boolean') {
    throw new VigieError('input.malformed', `${plug ?? benchPlugs.join(' or ')}: must be true or false`);
  }
  await bench.plug(plug, on);
}

/** The longest body of a command, bytes: a route with its places. */
const LONGEST_COMMAND = 65_536;

function addCommands(routes: OwnRoutes, commands: OwnCommands, snapshots: Snapshots): void {
  const { app } = routes;
  app.get('/vigie/v1/commands', async (context) => {
    refuseHead(context);
    const side = sideShown(routes, context);
    const { expires, scopes } = await admitReader(routes, side, context);
    acceptable([EVENTS], context.req.header('accept'));
    const sees = (scope: string): boolean => scopes?.has(scope) ?? true;
    const events = { commands: () => commands.report(sees), history: () => commands.history() };
    return respond(context.env, 200, snapshots.open(events, expires), { 'Content-Type': EVENTS });
  });
  app.post('/vigie/v1/commands', async (context) => {
    const { incoming, outgoing } = context.env;
    const { scopes } = await admit(routes, sideShown(routes, context), context, { scopes: noScopes });
    requireJson(incoming.headers['content-type'], incoming.headers['content-encoding']);
    const request = readCommand(await readJson(incoming, outgoing as ServerResponse, LONGEST_COMMAND));
    const lack = remoteLack(request, scopes);
    if (lack !== undefined) throw new VigieError('request.forbidden', lack);
    const taken = await commands.submit(request);
    return respond(context.env, 202, JSON.stringify(taken), { 'Content-Type': JSON_TYPE });
  });
  addRefusal(app, '/vigie/v1/commands', ['GET', 'POST']);
}

/** @throws VigieError `input.malformed` unless the value has a known `type` and an object `body`; the car checks the body */
function readCommand(given: unknown): CommandRequest {
  if (!isObject(given)) throw new VigieError('input.malformed', 'body: must be an object with type and body');
  const { type, body } = given as Readonly<Record<string, unknown>>;
  const kind = typeof type === 'string' ? findRemoteKind(type) : undefined;
  if (kind === undefined) throw new VigieError('input.malformed', 'type: must be a kind of command, such as Doors');
  if (!isObject(body)) throw new VigieError('input.malformed', 'body: must be an object, such as {"state": "Locked"}');
  return { type: kind.type, body };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Admits who may read the state of the vehicle, and asks with parameters that are `known` only. */
export async function admitReader(
  routes: OwnRoutes,
  side: Side,
  context: RequestContext,
  known: readonly string[] = [],
): Promise<Caller> {
  const { scopes = noScopes } = routes.enabled.find(({ id }) => id === `${side}.status.get`) ?? {};
  return admit(routes, side, context, { scopes, known });
}

/** Admits who has the scopes, and asks with parameters that are `known` only. */
async function admit(
  { serving }: OwnRoutes,
  side: Side,
  context: RequestContext,
  { scopes, known = [] }: { readonly scopes: Operation['scopes']; readonly known?: readonly string[] },
): Promise<Caller> {
  const { query } = context.env.exchange.target;
  const caller = await serving.admit(side, { operation: { scopes }, path: {} }, readPairs(query), context);
  ownParameters(query, known);
  return caller;
}

/** The side of the credentials that the request shows, if it is served. */
export function sideShown({ enabled }: OwnRoutes, context: RequestContext): Side {
  const bearer = /^Bearer /i.test(context.req.header('authorization') ?? '');
  const wanted: Side = bearer ? 'user' : 'fleet';
  return enabled.some(({ side }) => side === wanted) ? wanted : wanted === 'user' ? 'fleet' : 'user';
}
