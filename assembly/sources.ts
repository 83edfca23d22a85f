/** Creates the sources and the bus access for the inputs in a configuration. */

import { CandumpRecorder } from '../adapters/can/log/recorder.ts';
import { LogSource } from '../adapters/can/log/source.ts';
import { SlcanBus } from '../adapters/can/slcan/index.ts';
import { type IdentifierFilter, SocketCan } from '../adapters/can/socketcan/index.ts';
import { type CarClock, EARLIEST } from '../adapters/clock/system.ts';
import { GnssSource } from '../adapters/gnss/index.ts';
import { lineTo, readLineAddress } from '../adapters/lines/index.ts';
import { usualAnswer } from '../adapters/obd/isotp/route.ts';
import type { UdsRequester } from '../adapters/obd/uds/index.ts';
import {
  EXTENDED,
  type FrameBatch,
  type FrameSender,
  type FrameSource,
  type Log,
  type OutgoingFrame,
  type ReadingSource,
} from '../agent/ports.ts';
import { type Rest, UnitRest } from '../agent/power/rest.ts';
import type { CanInput, GnssInput } from '../config/inputs.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { ControlUnit } from '../protocol/profile.ts';
import { capturedIdentifiers } from './captures.ts';
import {
  commandedBuses,
  type InputsOfCar,
  obdBus,
  overFrames,
  polls,
  type Surroundings,
  unitsWithFaults,
} from './control-units.ts';
import { makeDirectory } from './directory.ts';
import type { AskedForFaults } from './faults.ts';
import { identifiersOf } from './identifiers.ts';
import { benchCar } from './simulation.ts';
import type { Vehicle } from './vehicle.ts';

interface Sources {
  readonly sources: readonly FrameSource[];
  readonly readings: readonly ReadingSource[];
  /** If omitted, no bus accepts frames. */
  readonly sender?: FrameSender;
  /** Requesters that send commands to control units, by the name of their bus in the profile. */
  readonly requesters: ReadonlyMap<string, UdsRequester>;
  /** Control units from which fault codes are requested. If omitted, the agent reads no fault codes. */
  readonly faults?: AskedForFaults;
  /** Closes the recording. */
  readonly close?: () => void;
  /** Lets frames of a bus with these identifiers pass the kernel filter, besides those of the profile. */
  readonly listen: (bus: string, identifiers: readonly (number | IdentifierFilter)[]) => void;
}

/** Usual speeds of serial lines in bit/s: NMEA 0183 §3, USB adapters. */
const BAUD = { nmea: 9_600, slcan: 115_200 };

/**
 * Returns the sources for the configured inputs. While the unit sleeps (`rest`), only the car's own frames are
 * received.
 * @throws VigieError `configuration.wrong` for an invalid address
 */
export function sourcesOf(
  configuration: InputsOfCar,
  vehicle: Vehicle,
  clock: CarClock,
  log: Log,
  rest: Rest = new UnitRest(),
  vinRead?: (vin: string) => void,
): Sources {
  const { obd, gnss } = configuration;
  const senders = new Map<string, FrameSender>();
  const taps = new Map<string, (batch: FrameBatch) => void>();
  const recorder = recorderOf(configuration, log);
  const kept = recorder === undefined ? undefined : keepFlushed(recorder, clock);
  const sockets = new Map<string, SocketCan>();
  const sources = configuration.can.map((input) => {
    const asked = obd?.kind === 'isotp' && obd.over === input.bus;
    const { source, sender } = open(input, asked, configuration, vehicle, { clock, log, rest });
    if (sender !== undefined) senders.set(input.bus, sender);
    if (source instanceof SocketCan) sockets.set(input.bus, source);
    return tapped(
      source,
      (batch) => {
        taps.get(input.bus)?.(batch);
        recorder?.write(batch, source.buses);
        if (batch.count > 0) kept?.written();
      },
      (error) => log.error('agent.workFailed', { error: String(error) }),
    );
  });
  const readings: ReadingSource[] = [];
  const requesters = new Map<string, UdsRequester>();
  const found = new Set<() => void>();
  const ways = {
    senders,
    taps,
    requesters,
    clock,
    log,
    rest,
    ...defined({ vinRead }),
    found: () => {
      for (const heard of found) heard();
    },
  };
  if (obd !== undefined) readings.push(...polls(obd, configuration, vehicle, ways));
  const commanded = commandedBuses(configuration, vehicle);
  const diagnosed = unitsWithFaults(configuration, vehicle);
  for (const bus of new Set([...commanded, ...diagnosed.map((unit) => unit.bus)])) overFrames(bus, ways);
  if (gnss !== undefined) readings.push(receiver(gnss, configuration.file, { clock, log, rest }));
  const polled = obd === undefined ? undefined : obdBus(obd, vehicle)?.name;
  const requester = configuration.faults && polled !== undefined ? requesters.get(polled) : undefined;
  const units = diagnosed.flatMap((unit) => {
    const way = requesters.get(unit.bus);
    return way === undefined ? [] : [{ ...unit, requester: way }];
  });
  const closing = kept === undefined ? {} : { close: kept.close };
  const asked = new Map([...requesters].filter(([bus]) => commanded.has(bus)));
  return {
    sources,
    readings,
    requesters: asked,
    listen: (bus, identifiers) => sockets.get(bus)?.listen(identifiers),
    ...(requester === undefined && units.length === 0
      ? {}
      : {
          faults: {
            ...defined({ requester }),
            ...(units.length === 0 ? {} : { uds: { units, clock } }),
            sets: vehicle.signalSets.get(polled ?? '') ?? [],
            onUnitsFound: (listener: () => void) => void found.add(listener),
          },
        }),
    ...closing,
    ...(senders.size === 0 ? {} : { sender: byBus(senders) }),
  };
}

/** Maximum time in ms that recorded frames stay in memory: a power cut loses at most these. */
const FLUSH = 1_000;

function recorderOf({ record }: InputsOfCar, log: Log): CandumpRecorder | undefined {
  if (record === undefined) return undefined;
  makeDirectory(record.folder, { of: 'recordings', choose: '--record, or `folder` under `record`' });
  return new CandumpRecorder({ ...record, log });
}

/** Flushes frames some time after `written` was called, and never without new frames. `close` closes the recording. */
function keepFlushed(recorder: CandumpRecorder, clock: CarClock): { written(): void; close(): void } {
  let cancel: (() => void) | undefined;
  return {
    written: () => {
      cancel ??= clock.after(FLUSH, () => {
        cancel = undefined;
        recorder.flush();
      });
    },
    close: () => {
      cancel?.();
      recorder.close();
    },
  };
}

function open(
  input: CanInput,
  asked: boolean,
  configuration: InputsOfCar,
  vehicle: Vehicle,
  { clock, log, rest }: Surroundings,
): { source: FrameSource; sender?: FrameSender } {
  const { bus } = input;
  const { file, commands } = configuration;
  const diagnosed =
    commandedBuses(configuration, vehicle).has(bus) ||
    unitsWithFaults(configuration, vehicle).some((unit) => unit.bus === bus);
  switch (input.kind) {
    case 'simulated': {
      const car = benchCar(vehicle, clock);
      return { source: car, sender: car };
    }
    case 'socketcan': {
      const identifiers = heardOf(configuration, vehicle, bus);
      const socket = new SocketCan({
        interface: input.interface,
        bus,
        clock,
        log,
        rest,
        ...defined({ identifiers }),
      });
      return { source: socket, sender: socket };
    }
    case 'slcan': {
      const where = `${file}:${input.line}`;
      // If neither requests nor commands are configured, the adapter only listens.
      const sends = asked || diagnosed || (commands !== undefined && isCommanded(vehicle, bus));
      const adapter = new SlcanBus({
        bus,
        name: input.address,
        open: lineTo(readLineAddress(input.address, BAUD.slcan, where), clock, rest),
        clock,
        log,
        rest,
        bitRate: input.bitrate,
        sends,
      });
      return sends ? { source: adapter, sender: adapter } : { source: adapter };
    }
    case 'log': {
      const { log: path, loop } = input;
      // Replayed frames stand for live ones, so they get the current time.
      const speed = path === '-' ? Number.POSITIVE_INFINITY : input.speed;
      const source = new LogSource(path, { bus, speed, loop, clock, times: 'clock' });
      source.finished.then(input.ended, (error: Error) => {
        log.error('recording.unreadable', { bus, error: error.message });
      });
      return { source };
    }
  }
}

/** Returns the identifier of the unit's responses. */
function answersOf({ address }: ControlUnit): number {
  const { request, extended, response = usualAnswer(request, extended) } = address;
  return extended ? (response | EXTENDED) >>> 0 : response;
}

function isCommanded(vehicle: Vehicle, bus: string): boolean {
  return Object.values(vehicle.profile.commands).some(({ send }) => send?.bus === bus);
}

/** Returns the identifiers to receive on a bus; undefined: all. */
export function heardOf(
  configuration: InputsOfCar,
  vehicle: Vehicle,
  bus: string,
): readonly (number | IdentifierFilter)[] | undefined {
  const { obd, record, commands } = configuration;
  // Diagnosis, recording and captures of a whole bus need frames that the profile does not name.
  if (record !== undefined || (obd?.kind === 'isotp' && obd.over === bus)) return undefined;
  if (commandedBuses(configuration, vehicle).has(bus)) return undefined;
  const captured = capturedIdentifiers(vehicle.profile, bus);
  if (captured === undefined) return undefined;
  const { sources, signals = [] } = vehicle.profile;
  const named = [...sources, ...signals].filter((source) => source.bus === undefined || source.bus === bus);
  const wanted = [...identifiersOf(named, vehicle.databases, bus), ...captured];
  const units = unitsWithFaults(configuration, vehicle).filter((unit) => unit.bus === bus);
  // A bus for commands or requests must receive all frames; otherwise it would seem to sleep.
  if (wanted.length === 0 && (units.length > 0 || (commands !== undefined && isCommanded(vehicle, bus)))) {
    return undefined;
  }
  return [...wanted, ...units.map(answersOf)];
}

function receiver(
  { kind, address, line, clock: sets }: GnssInput,
  file: string,
  { clock, log, rest }: Surroundings,
): ReadingSource {
  const way = readLineAddress(address, BAUD.nmea, `${file}:${line}`);
  // A file may be a recording, whose times are from another day.
  const time = sets && way.kind !== 'file' ? { time: clock.discipline.bind(clock) } : {};
  const open = lineTo(way, clock, rest);
  return new GnssSource({ name: address, format: kind, open, clock, log, earliest: EARLIEST, rest, ...time });
}

/** Returns the source with an additional listener, called first. Passes its errors to `failed`, and all batches on. */
function tapped(
  source: FrameSource,
  listener: (batch: FrameBatch) => void,
  failed: (error: unknown) => void,
): FrameSource {
  const { health } = source;
  return {
    get buses() {
      return source.buses;
    },
    start: (receive) =>
      source.start((batch) => {
        try {
          listener(batch);
        } catch (error) {
          failed(error);
        }
        receive(batch);
      }),
    stop: () => source.stop(),
    ...(health === undefined ? {} : { health: health.bind(source) }),
  };
}

/** Returns a sender that sends each frame on the bus named in the frame. */
function byBus(senders: ReadonlyMap<string, FrameSender>): FrameSender {
  return {
    send: async (frame: OutgoingFrame) => {
      const sender = senders.get(frame.bus);
      if (sender !== undefined) return sender.send(frame);
      throw new VigieError('command.actuation', `bus ${frame.bus} takes no frames`, { where: frame.bus });
    },
  };
}
