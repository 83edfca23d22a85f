import { Command, InvalidArgumentError, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { ObdDecoder } from '../adapters/obd/index.ts';
import { scanCar } from '../adapters/obd/j1979/index.ts';
import { connectAdapter, connectInterface, connectStick, type ObdConnection } from '../assembly/obd-connection.ts';
import { obdProtocols } from '../config/configuration-schema.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { findingText } from './finding-text.ts';
import { type Format, formatOf, Lines } from './output.ts';
import { loadSignalSets, standardSets } from './signal-sets.ts';

/** Exit status if no control unit answers. */
const NOTHING = 1;
interface Options {
  readonly obd?: string[];
  readonly protocol?: (typeof obdProtocols)[number];
  readonly bitrate: number;
  readonly format?: Format;
}

export function scanCommand(): Command {
  return new Command('scan')
    .summary('queries a car: VIN, control units, values and fault codes')
    .description(
      `Queries a car once over its OBD-II socket and prints the answers of its control units, for people or as JSON lines: \
{unit, name?, calibrations?, lamp?, parameters}, {vin}, {unit, command, values}, {faults: [...]}, {problem}. It only \
reads: it clears no fault code and opens no session. The ignition must be on.

ADAPTER is an ELM327, OBDLink or the like (/dev/rfcomm0, serial:/dev/ttyUSB0?baud=115200, tcp://192.168.0.10:35000), a \
CAN interface of this machine (can0), or an slcan stick (slcan:/dev/ttyACM0).

Exit status 0, 1 when no control unit answers, 2 when the adapter cannot be used.`,
    )
    .argument('<adapter>', 'line to an adapter, or CAN interface')
    .option('--obd <file...>', 'OBDb signal sets that describe the values, in addition to SAE J1979')
    .addOption(
      new Option('--protocol <name>', 'protocol of the car (ELM327; default: the adapter finds out)').choices(
        obdProtocols,
      ),
    )
    .option('--bitrate <bit/s>', 'bit rate of the bus behind an slcan stick', bitrate, configurationDefaults.bitrate)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText('after', '\nExamples:\n  vigie scan /dev/rfcomm0\n  vigie scan can0 --format ndjson | grep faults')
    .action(scan);
}

async function scan(adapter: string, options: Options): Promise<void> {
  const decoder = new ObdDecoder(loadSignalSets([...standardSets, ...(options.obd ?? [])]));
  const format = formatOf(options.format);
  const lines = new Lines();
  const { requester, close } = await connectTo(adapter, options);
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

function connectTo(adapter: string, { protocol, bitrate }: Options): ObdConnection | Promise<ObdConnection> {
  const parts = { clock: new SystemClock(), log: new StreamLog(process.stderr, 'error') };
  if (adapter.startsWith('slcan:')) return connectStick(adapter.slice('slcan:'.length), bitrate, parts);
  return /[/:]/.test(adapter) ? connectAdapter(adapter, protocol, parts) : connectInterface(adapter, parts);
}

function bitrate(text: string): number {
  const value = Number(text.replace(/k$/, '000'));
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('bit/s, such as 500000 or 500k.');
}
