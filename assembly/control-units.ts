/** Requesters for the control units of a car, for readings and commands. */
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

/** Usual speed of a serial line to an adapter in bit/s (ELM327 data sheet). */
const BAUD = 38_400;

/** Configured inputs and permitted commands. `file` is the configuration file, for error messages. */
export interface InputsOfCar extends Inputs {
  readonly file: string;
  /** If omitted, no remote commands are accepted. */
  readonly commands?: object;
  /** If omitted, no fault codes are read. */
  readonly faults?: object;
}

/** Dependencies of all inputs. */
export interface Surroundings {
  readonly clock: CarClock;
  readonly log: Log;
  readonly rest: Rest;
  /** Called with the VIN that the car reports, once per run. */
  readonly vinRead?: (vin: string) => void;
}

/** Access to each bus by name: senders of frames, listeners that get frames first, and requesters for diagnosis. */
interface Ways extends Surroundings {
  readonly senders: ReadonlyMap<string, FrameSender>;
  readonly taps: Map<string, (batch: FrameBatch) => void>;
  /** One requester per bus, so that polls and commands wait for each other. */
  readonly requesters: Map<string, UdsRequester>;
  /** Called when control units are found, e.g. because the ignition was switched on. */
  readonly found?: () => void;
}

/** Returns the buses whose control units execute commands. */
export function commandedBuses({ commands }: InputsOfCar, vehicle: Vehicle): ReadonlySet<string> {
  if (commands === undefined) return new Set();
  return new Set(Object.values(vehicle.profile.commands).flatMap(({ uds }) => (uds === undefined ? [] : [uds.bus])));
}

/** Returns the control units whose fault codes are read over UDS. */
export function unitsWithFaults({ faults }: InputsOfCar, vehicle: Vehicle): readonly ControlUnit[] {
  return faults === undefined ? [] : (vehicle.profile.controlUnits ?? []);
}

/** Returns the bus in the profile on which requests are sent. */
export function obdBus({ bus }: ObdInput, { profile }: Vehicle): Vehicle['profile']['buses'][number] | undefined {
  return profile.buses.find(({ name, kind }) => kind === 'obd' && name === (bus ?? name));
}

/**
 * Creates the sources that poll the car as specified in the configuration and the profile.
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
    // The profile may have two names for the same wires: one for frames and one for requests.
    for (const name of [bus.name, obd.over]) ways.requesters.set(name, requester);
    const source = new ObdSource({ ...asking, requester, settings, ...vinHooks(requester, ways) });
    // Behind a gateway only responses arrive, so sleep cannot be detected: the profile lets a parked car be polled too.
    if (asleepAfter === Number.POSITIVE_INFINITY) return [source];
    return [closing(source, { release: pauseAsleep(source, rest) })];
  }
  const elm = adapter(obd, file, ways);
  ways.requesters.set(bus.name, elm);
  // Only CAN supports requests for several parameters. If the adapter detects the protocol, it is not known here.
  const several = obd.protocol === undefined || obd.protocol.startsWith('can');
  const polls = { ...settings, ...(several ? {} : { parametersPerRequest: 1 }) };
  const source = new ObdSource({ ...asking, requester: elm, settings: polls, ...vinHooks(elm, ways) });
  if (can.length > 0) return [closing(source, { before: () => elm.close(), release: pauseAsleep(source, rest) })];
  const watch = new VoltageWatch({ polls: source, rest, clock, voltage: () => elm.voltage() });
  return [closing(source, { before: () => elm.close(), release: () => watch.stop() })];
}

/** Returns the callback for found control units. It requests the VIN until a unit has returned it. */
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
        // The car or the line was lost. The VIN is requested again the next time control units are found.
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

/** Adds a requester for control units on a bus that accepts frames, unless the bus already has one. */
export function overFrames(bus: string, { senders, taps, requesters, clock }: Ways): void {
  const sender = senders.get(bus);
  if (sender === undefined || requesters.has(bus)) return;
  const transport = new IsoTp({ clock, sender, bus, index: 0 });
  taps.set(bus, (batch) => transport.receive(batch));
  requesters.set(bus, transport);
}

interface ReleaseParts {
  /** Closes the line of the source, which also ends a running request. */
  readonly before?: () => Promise<void>;
  readonly release: () => void;
}

/** Returns the source, whose `stop` also releases the other parts. */
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
