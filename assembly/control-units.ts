/** Requesters for the control units of a car, for readings and for commands. */
import type { CarClock } from '../adapters/clock/system.ts';
import { lineTo, readLineAddress } from '../adapters/lines/index.ts';
import { Elm327, type Protocol } from '../adapters/obd/elm327/index.ts';
import { IsoTp } from '../adapters/obd/isotp/index.ts';
import { readVin } from '../adapters/obd/j1979/vin.ts';
import { ObdSource, type ObdSourceOptions, pauseAsleep, VoltageWatch } from '../adapters/obd/poll/index.ts';
import type { DiagnosticRequester } from '../adapters/obd/requester.ts';
import type { UdsRequester } from '../adapters/obd/uds/index.ts';
import type { FrameBatch, FrameSender, Log, ReadingSource } from '../agent/ports.ts';
import type { Rest } from '../agent/power/rest.ts';
import { obdProtocols } from '../config/configuration-schema.ts';
import type { Inputs, ObdInput } from '../config/inputs.ts';
import { VigieError } from '../protocol/errors.ts';
import type { ControlUnit } from '../protocol/profile.ts';
import { pollSettings, type Vehicle } from './vehicle.ts';

/** Usual speed of a serial line to an adapter, bit/s (ELM327 data sheet). */
const BAUD = 38_400;

/** Configured inputs and permitted commands. `file` is the configuration file, for error messages. */
export interface InputsOfCar extends Inputs {
  readonly file: string;
  /** If omitted, no remote command is accepted. */
  readonly commands?: object;
  /** If omitted, no fault codes are read. */
  readonly faults?: object;
}

/** Dependencies of every input. */
export interface Surroundings {
  readonly clock: CarClock;
  readonly log: Log;
  readonly rest: Rest;
  /** Called with the VIN that the car reports, once for each run. */
  readonly vinRead?: (vin: string) => void;
}

/** Access to each bus by name: sending frames, listeners that receive frames first, and diagnostic requests. */
interface Ways extends Surroundings {
  readonly senders: ReadonlyMap<string, FrameSender>;
  readonly taps: Map<string, (batch: FrameBatch) => void>;
  /** One requester for each bus, so that polls and commands wait for each other. */
  readonly requesters: Map<string, UdsRequester>;
  /** Called when control units are found, for example when the ignition is switched on. */
  readonly found?: () => void;
}

/** Returns the buses with control units that execute commands. */
export function commandedBuses({ commands }: InputsOfCar, vehicle: Vehicle): ReadonlySet<string> {
  if (commands === undefined) return new Set();
  return new Set(Object.values(vehicle.profile.commands).flatMap(({ uds }) => (uds === undefined ? [] : [uds.bus])));
}

/** Returns the control units whose fault codes are read by UDS. */
export function unitsWithFaults({ faults }: InputsOfCar, vehicle: Vehicle): readonly ControlUnit[] {
  return faults === undefined ? [] : (vehicle.profile.controlUnits ?? []);
}

/** Returns the bus of the profile that is used for requests. */
export function obdBus({ bus }: ObdInput, { profile }: Vehicle): Vehicle['profile']['buses'][number] | undefined {
  return profile.buses.find(({ name, kind }) => kind === 'obd' && name === (bus ?? name));
}

/**
 * Creates the sources that poll the car according to the configuration and the profile.
 * @throws VigieError `configuration.wrong` for a bus that accepts no requests, or an invalid address
 */
export function polls(obd: ObdInput, { file, can }: InputsOfCar, vehicle: Vehicle, ways: Ways): ReadingSource[] {
  const { clock, log, rest } = ways;
  const bus = obdBus(obd, vehicle);
  if (bus?.obd === undefined) return [];
  const sets = vehicle.signalSets.get(bus.name) ?? [];
  const settings = pollSettings(bus.obd);
  const asking = { clock, sets, bus: bus.name, log };
  if (obd.kind === 'isotp') {
    const { asleepAfter } = bus.obd;
    const requester = overBus(obd, file, asleepAfter, ways);
    // The profile may have one bus name for frames and another for requests on the same wires.
    for (const name of [bus.name, obd.over]) ways.requesters.set(name, requester);
    const source = new ObdSource({ ...asking, requester, settings, ...vinHooks(requester, ways) });
    // Behind a gateway only answers are received: the profile specifies that a parked car is polled too.
    if (asleepAfter === Number.POSITIVE_INFINITY) return [source];
    return [closing(source, { release: pauseAsleep(source, rest) })];
  }
  const elm = adapter(obd, file, ways);
  ways.requesters.set(bus.name, elm);
  // Only CAN allows requests for several parameters. The protocol that an adapter detects is unknown here.
  const several = obd.protocol === undefined || obd.protocol.startsWith('can');
  const polls = { ...settings, ...(several ? {} : { parametersPerRequest: 1 }) };
  const source = new ObdSource({ ...asking, requester: elm, settings: polls, ...vinHooks(elm, ways) });
  if (can.length > 0) return [closing(source, { before: () => elm.close(), release: pauseAsleep(source, rest) })];
  const watch = new VoltageWatch({ polls: source, rest, clock, voltage: () => elm.voltage() });
  return [closing(source, { before: () => elm.close(), release: () => watch.stop() })];
}

/** Returns the callback for found control units. It reads the VIN until one unit has returned it. */
function vinHooks(requester: DiagnosticRequester, { vinRead, found }: Ways): Pick<ObdSourceOptions, 'found'> {
  let known = vinRead === undefined;
  if (known && found === undefined) return {};
  return {
    found: (extended) => {
      found?.();
      if (known) return;
      readVin(requester, extended).then(
        (vin) => {
          if (vin === undefined) return;
          known = true;
          vinRead?.(vin);
        },
        // The car or the line is lost: the VIN is requested again when control units are found again.
        () => undefined,
      );
    },
  };
}

function adapter(
  { address, protocol, line }: Extract<ObdInput, { kind: 'elm327' }>,
  file: string,
  { clock, log, rest }: Surroundings,
): Elm327 {
  return new Elm327({
    open: lineTo(readLineAddress(address, BAUD, `${file}:${line}`), clock, rest),
    clock,
    log,
    name: address,
    ...(protocol === undefined ? {} : { protocol: String(obdProtocols.indexOf(protocol) + 1) as Protocol }),
  });
}

function overBus(
  { over, line }: Extract<ObdInput, { kind: 'isotp' }>,
  file: string,
  asleepAfter: number,
  { senders, taps, clock }: Ways,
): IsoTp {
  const sender = senders.get(over);
  if (sender === undefined) {
    throw new VigieError('configuration.wrong', `bus ${over} takes no requests`, { where: `${file}:${line}` });
  }
  const transport = new IsoTp({ clock, sender, bus: over, index: 0, asleepAfter });
  taps.set(over, (batch) => transport.receive(batch));
  return transport;
}

/** Adds a requester for commands to control units of a bus that accepts frames and has no requester yet. */
export function overFrames(bus: string, { senders, taps, requesters, clock }: Ways): void {
  const sender = senders.get(bus);
  if (sender === undefined || requesters.has(bus)) return;
  const transport = new IsoTp({ clock, sender, bus, index: 0 });
  taps.set(bus, (batch) => transport.receive(batch));
  requesters.set(bus, transport);
}

interface ReleaseParts {
  /** Ends the line of the source. A running request ends with the line. */
  readonly before?: () => Promise<void>;
  readonly release: () => void;
}

/** Returns the source; its stop also releases the other parts. */
function closing(source: ReadingSource, { before, release }: ReleaseParts): ReadingSource {
  const { health } = source;
  return {
    start: (wanted, sink) => source.start(wanted, sink),
    stop: async () => {
      release();
      await before?.();
      await source.stop();
    },
    ...(health === undefined ? {} : { health: health.bind(source) }),
  };
}
