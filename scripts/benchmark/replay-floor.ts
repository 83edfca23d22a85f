/**
 * Reads and decodes a log as the agent does, and drops the readings: the unavoidable part of a replay. Arguments: log,
 * folder of the vehicle profile.
 */
import { openLog } from '../../adapters/can/log/index.ts';
import { Channels } from '../../agent/model/channels.ts';
import { Mapping } from '../../agent/model/mapping.ts';
import { Status } from '../../agent/model/status.ts';
import { decoderFor, loadVehicle } from '../../assembly/vehicle.ts';

const [file = '', profile = ''] = process.argv.slice(2);
const vehicle = loadVehicle(profile);
const { wanted } = new Mapping(new Status(), new Channels(), vehicle.profile);
const log = await openLog(file);
const decoder = decoderFor(vehicle, wanted, log.buses);
let decoded = 0;
for await (const batch of log.batches()) decoded += decoder.read?.(batch).count ?? 0;
await log.close();
if (decoded === 0) throw new Error('no frame of the log was decoded');
