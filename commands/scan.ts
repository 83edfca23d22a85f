import { Command, InvalidArgumentError, Option } from 'commander';
import { SlcanBus } from '../adapters/can/slcan/index.ts';
import { SocketCan } from '../adapters/can/socketcan/index.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { lineTo, readLineAddress } from '../adapters/lines/index.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { Elm327, type Protocol } from '../adapters/obd/elm327/index.ts';
import { ObdDecoder } from '../adapters/obd/index.ts';
import { IsoTp } from '../adapters/obd/isotp/index.ts';
import { scanCar } from '../adapters/obd/j1979/index.ts';
import type { DiagnosticRequester } from '../adapters/obd/requester.ts';
import type { FrameSender, FrameSource } from '../agent/ports.ts';
import { obdProtocols } from '../config/configuration-schema.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { findingText } from './finding-text.ts';
import { type Format, formatOf, Lines } from './output.ts';
import { loadSignalSet, standardSets } from './signal-sets.ts';

/** Exit status when no control unit answers. */
const NOTHING = 1;
/** Usual speeds of a serial line to an adapter, bit/s. */
const ELM_BAUD = 38_400;
const SLCAN_BAUD = 115_200;
/** The one bus that is asked. */
const BUS = 'obd';

interface Options {
  readonly obd?: string[];
  readonly protocol?: (typeof obdProtocols)[number];
  readonly bitrate: number;
  readonly format?: Format;
}

export function scanCommand(): Command {
  return new Command('scan')
    .summary('ask a car: VIN, control units, values and fault codes')
    .description(
      `Asks a car once over its OBD-II socket and prints what its control units say, for people or as JSON lines: \
{unit, name?, calibrations?, lamp?, parameters}, {vin}, {unit, command, values}, {faults: [...]}, {problem}. It only \
reads: no fault code is cleared and no session is opened. The ignition must be on.

ADAPTER is an ELM327, OBDLink or the like (/dev/rfcomm0, serial:/dev/ttyUSB0?baud=115200, tcp://192.168.0.10:35000), a \
CAN interface of this machine (can0), or an slcan stick (slcan:/dev/ttyACM0).

Exit status 0, 1 when no control unit answers, 2 when there is no way to ask.`,
    )
    .argument('<adapter>', 'line to an adapter, or CAN interface')
    .option('--obd <file...>', 'OBDb signal sets that name the values, beside SAE J1979')
    .addOption(
      new Option('--protocol <name>', 'what the car speaks (ELM327; default: the adapter finds out)').choices(
        obdProtocols,
      ),
    )
    .option('--bitrate <bit/s>', 'of the bus behind an slcan stick', bitrate, configurationDefaults.bitrate)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText('after', '\nExamples:\n  vigie scan /dev/rfcomm0\n  vigie scan can0 --format ndjson | grep faults')
    .action(scan);
}

async function scan(adapter: string, options: Options): Promise<void> {
  const decoder = new ObdDecoder([...standardSets, ...(options.obd ?? [])].map(loadSignalSet));
  const format = formatOf(options.format);
  const lines = new Lines();
  const { requester, close } = await requesterTo(adapter, options);
  let found = 0;
  try {
    for await (const finding of scanCar(requester, decoder)) {
      found++;
      lines.line(format === 'ndjson' ? JSON.stringify(finding) : findingText(finding, decoder));
      await lines.flush();
    }
  } finally {
    await close();
  }
  if (found > 0) return;
  process.stderr.write(`vigie: no control unit answers on ${adapter}: is the ignition on?\n`);
  process.exitCode = NOTHING;
}

interface Connection {
  readonly requester: DiagnosticRequester;
  readonly close: () => Promise<void>;
}

async function requesterTo(adapter: string, { protocol, bitrate }: Options): Promise<Connection> {
  const clock = new SystemClock();
  const log = new StreamLog(process.stderr, 'error');
  if (adapter.startsWith('slcan:')) {
    const address = adapter.slice('slcan:'.length);
    const open = lineTo(readLineAddress(address, SLCAN_BAUD), clock);
    return overFrames(
      new SlcanBus({ bus: BUS, name: address, open, clock, log, bitRate: bitrate, sends: true }),
      clock,
    );
  }
  if (!/[/:]/.test(adapter)) {
    return overFrames(new SocketCan({ interface: adapter, bus: BUS, clock, log }), clock);
  }
  const requester = new Elm327({
    open: lineTo(readLineAddress(adapter, ELM_BAUD), clock),
    clock,
    log,
    name: adapter,
    ...(protocol === undefined ? {} : { protocol: String(obdProtocols.indexOf(protocol) + 1) as Protocol }),
  });
  return { requester, close: () => requester.close() };
}

async function overFrames(bus: FrameSource & FrameSender, clock: SystemClock): Promise<Connection> {
  // The user wants the car asked: that its bus is silent, as behind a gateway, is no reason not to.
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

function bitrate(text: string): number {
  const value = Number(text.replace(/k$/, '000'));
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('bit/s, such as 500000 or 500k.');
}
