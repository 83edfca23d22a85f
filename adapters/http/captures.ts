/** Captures of the car over HTTP (docs/captures.md), under a separate base: not part of the published interface. */
import { VigieError } from '../../protocol/errors.ts';
import { ownParameters, readSegments } from './address.ts';
import { type RequestContext, respond } from './exchange.ts';
import type { Router } from './routes.ts';

/** A capture in a response. */
export interface CaptureReport {
  readonly id: string;
  readonly cause: string;
  /** Id of the collision or event that caused the capture. */
  readonly of: string;
  readonly monitorId?: string;
  /** Time in RFC 3339. */
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly frames: number;
  /** Compressed size in bytes. */
  readonly bytes: number;
  /** True if all parts of the capture have been recorded. */
  readonly complete: boolean;
}

/** Stored captures. */
export interface CaptureView {
  /** Returns all captures by ascending time. */
  list(): Promise<readonly CaptureReport[]>;
  /** Returns the frames as a candump log in pieces, or undefined if no capture has this id. */
  log(id: string): Promise<Iterable<string> | undefined>;
  /** Returns the frames as an MDF4 file, or undefined if no capture has this id. */
  mdf4(id: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

const BASE = '/vigie/v1/captures';

/** Adds the routes of captures to the server. */
export function addCaptures(router: Router, view: CaptureView): void {
  const list = async ({ env }: RequestContext): Promise<Response> => {
    return respond(env, 200, JSON.stringify(await captureList(view)), { 'Content-Type': 'application/json' });
  };
  router.add('GET', BASE, list, { known: [] });
  const pattern = `${BASE}/{id}`;
  const frames = async (context: RequestContext): Promise<Response> => {
    const { id = '' } = readSegments(pattern, context.env.exchange.target.path);
    const { body, headers } = await captureFrames(view, id, formatOf(context));
    return respond(context.env, 200, body, headers);
  };
  router.add('GET', pattern, frames, { known: ['format'] });
}

/** Returns the response to a request for the list of captures. */
export async function captureList(view: CaptureView): Promise<{ readonly captures: readonly CaptureReport[] }> {
  return { captures: await view.list() };
}

interface CaptureFrames {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the frames of one capture. @throws VigieError `request.unknown` */
export async function captureFrames(view: CaptureView, id: string, format: CaptureForm): Promise<CaptureFrames> {
  if (format === 'mdf4') {
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${id}.mf4"`,
    };
    return { body: (await view.mdf4(id)) ?? unknown(id), headers };
  }
  const pieces = (await view.log(id)) ?? unknown(id);
  return { body: streamOf(pieces), headers: { 'Content-Type': 'text/plain; charset=utf-8' } };
}

export const captureForms = ['candump', 'mdf4'] as const;
export type CaptureForm = (typeof captureForms)[number];

/** Returns the requested file format. @throws VigieError `input.malformed` */
function formatOf({ env }: RequestContext): CaptureForm {
  const format = ownParameters(env.exchange.target.query, ['format']).get('format') ?? 'candump';
  if (format === 'candump' || format === 'mdf4') return format;
  throw new VigieError('input.malformed', 'must be candump or mdf4', { where: 'format' });
}

function unknown(id: string): never {
  throw new VigieError('request.unknown', `there is no capture ${id}`);
}

/** Returns a stream that produces one piece each time the reader requests data. */
function streamOf(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]();
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      pull(controller) {
        const { value, done } = iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
    },
    { highWaterMark: 0 },
  );
}
