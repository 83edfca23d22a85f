/** One recorder with the real mapping. Its messages are encoded like in the outbox. */
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Channels } from '../../../agent/model/channels.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import type { Publisher } from '../../../agent/ports.ts';
import type { Recorder } from '../../../agent/recorders/recorder.ts';
import { Records } from '../../../agent/records.ts';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import { channelByPath } from '../../../protocol/channels.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import type { RecordKind } from '../../../protocol/schema/kind.ts';
import type { Body, BodyKind } from '../../../protocol/schema/message.ts';
import { type SlotValue, slotByPath } from '../../../protocol/slots.ts';

export interface RecorderRig {
  readonly status: Status;
  readonly channels: Channels;
  readonly mapping: Mapping;
  readonly records: Records;
  /** All messages so far, in order. */
  readonly put: { readonly kind: BodyKind; readonly body: unknown }[];
  /** Sets a path of Status or a channel, like a signal of the car. */
  give(path: string, value: SlotValue, at: number): void;
  /** Several signals of one frame. Undefined stands for a raw value that the profile calls invalid. */
  frame(values: Readonly<Record<string, SlotValue | undefined>>, at: number): void;
  /** A fix at this place. */
  locate(latitude: number, longitude: number, at: number): void;
  /** Connects a recorder to Status and channels. */
  connect(recorder: Recorder): void;
  /** Bodies of a kind, in order. */
  of<K extends RecordKind>(kind: K): Body<K>[];
}

/** Raw value that is invalid for every signal. */
const INVALID = -1_000_000;

/** @param paths the paths that the test sets, each with its own signal. Names map to their index. */
export function recorderRig(paths: readonly string[], store = new MemoryRecords()): RecorderRig {
  const status = new Status();
  const channels = new Channels();
  const put: { kind: BodyKind; body: unknown }[] = [];
  const publisher: Publisher = {
    put: (kind, body) => {
      // A message that cannot be encoded fails here, as in the outbox.
      encodeMessage({ version: 1, kind, seq: 0, boot: 1, at: Date.UTC(2026, 0, 1), clock: 'ntp', body });
      put.push({ kind, body: structuredClone(body) });
    },
    secure: async (kind, body) => publisher.put(kind, body),
  };
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const wanted = [...paths, 'lastPosition.latitude', 'lastPosition.longitude'];
  const mapping = new Mapping(status, channels, {
    name: 'rig',
    sources: wanted.map((path): SourceMapping => {
      const values = (slotByPath.get(path) ?? channelByPath.get(path))?.values;
      const plain = { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [INVALID], priority: 0 };
      return values === undefined ? plain : { ...plain, map: Object.fromEntries(values.entries()) };
    }),
    constants: {},
    telemetry: {},
    waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
    commands: {},
  });
  const read = (path: string, value: SlotValue | undefined, at: number): void => {
    const values = (slotByPath.get(path) ?? channelByPath.get(path))?.values;
    const said = values === undefined ? Number(value) : values.indexOf(value as string);
    const raw = value === undefined ? INVALID : said;
    mapping.reading(wanted.indexOf(path), raw, raw, at);
  };
  return {
    status,
    channels,
    mapping,
    records: new Records(publisher, store, silent),
    put,
    give: (path, value, at) => {
      read(path, value, at);
      mapping.settled(at);
    },
    frame: (values, at) => {
      for (const [path, value] of Object.entries(values)) read(path, value, at);
      mapping.settled(at);
    },
    locate: (latitude, longitude, at) => {
      read('lastPosition.latitude', latitude, at);
      read('lastPosition.longitude', longitude, at);
      mapping.settled(at);
    },
    connect: (recorder) => {
      status.observe(recorder);
      const { channel, channelAbsent, sample } = recorder;
      if (channel === undefined) return;
      channels.observe({
        channel: channel.bind(recorder),
        ...(channelAbsent === undefined ? {} : { channelAbsent: channelAbsent.bind(recorder) }),
        ...(sample === undefined ? {} : { sample: sample.bind(recorder) }),
      });
    },
    of: (kind) => put.filter((one) => one.kind === kind).map(({ body }) => body as never),
  };
}
