/** Diagnostic connections outside a running agent: an adapter on a line, or ISO-TP over the frames of a bus. */
import { SlcanBus } from '../adapters/can/slcan/index.ts';
import { SocketCan } from '../adapters/can/socketcan/index.ts';
import type { CarClock } from '../adapters/clock/system.ts';
import { lineTo, readLineAddress } from '../adapters/lines/index.ts';
import { Elm327, type Protocol } from '../adapters/obd/elm327/index.ts';
import { IsoTp } from '../adapters/obd/isotp/index.ts';
import type { DiagnosticRequester } from '../adapters/obd/requester.ts';
import type { FrameSender, FrameSource, Log } from '../agent/ports.ts';
import { obdProtocols } from '../config/configuration-schema.ts';

/** Usual speed of a serial line to an adapter in bit/s. */
const ELM_BAUD = 38_400;
const SLCAN_BAUD = 115_200;
/** Name given to the bus for requests. */
const BUS = 'obd';

export interface ObdConnection {
  readonly requester: DiagnosticRequester;
  readonly close: () => Promise<void>;
}

export interface ConnectionParts {
  readonly clock: CarClock;
  readonly log: Log;
}

/** Connects an ELM327-compatible adapter, which detects the protocol unless it is set. Throws `configuration.wrong`. */
export function connectAdapter(
  address: string,
  protocol: (typeof obdProtocols)[number] | undefined,
  { clock, log }: ConnectionParts,
): ObdConnection {
  const requester = new Elm327({
    open: lineTo(readLineAddress(address, ELM_BAUD), clock),
    clock,
    log,
    name: address,
    ...(protocol === undefined ? {} : { protocol: String(obdProtocols.indexOf(protocol) + 1) as Protocol }),
  });
  return { requester, close: () => requester.close() };
}

/** Connects a CAN interface of this machine. Throws `input.unreadable` if the machine does not support CAN. */
export function connectInterface(name: string, parts: ConnectionParts): Promise<ObdConnection> {
  return overFrames(new SocketCan({ interface: name, bus: BUS, ...parts }), parts);
}

/** Connects an slcan adapter. Throws `configuration.wrong`. */
export function connectStick(address: string, bitRate: number, parts: ConnectionParts): Promise<ObdConnection> {
  const open = lineTo(readLineAddress(address, SLCAN_BAUD), parts.clock);
  return overFrames(new SlcanBus({ bus: BUS, name: address, open, ...parts, bitRate, sends: true }), parts);
}

async function overFrames(bus: FrameSource & FrameSender, { clock }: ConnectionParts): Promise<ObdConnection> {
  // The user wants requests, so send them even on a silent bus, for example behind a gateway.
  const requester = new IsoTp({ clock, sender: bus, bus: BUS, index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  await bus.start((batch) => requester.receive(batch));
  return {
    requester,
    close: async () => {
      requester.close();
      await bus.stop();
    },
  };
}
