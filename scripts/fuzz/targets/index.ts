/** Table of fuzz targets. Add the file of a new parser here; `npm run fuzz` and test/fuzz then test it. */
import type { FuzzTarget } from '../target.ts';
import { configuration, profile } from './configuration.ts';
import { dbc } from './dbc.ts';
import { fileLogTargets } from './file-logs.ts';
import { gpsd, nmea, sirf, ubx } from './gnss.ts';
import { inspected, suggested } from './inspect.ts';
import { journal, trustChanges, trustFile } from './kept-files.ts';
import { prompt, slcan, transport } from './live.ts';
import { logFile, logGzip, logZip, logZstd } from './log-file.ts';
import { logTargets } from './logs.ts';
import { command, message } from './messages.ts';
import { callbackAnswer, estAnswer, estRequest, httpRequest, mqttPackets } from './network.ts';
import { elm327, isotp, services, signalSet } from './obd.ts';
import { uds } from './uds.ts';
import { values } from './values.ts';

export const targets: readonly FuzzTarget[] = [
  ...logTargets,
  ...fileLogTargets,
  logFile,
  logGzip,
  logZstd,
  logZip,
  values,
  dbc,
  inspected,
  suggested,
  nmea,
  sirf,
  ubx,
  gpsd,
  elm327,
  isotp,
  services,
  signalSet,
  slcan,
  prompt,
  transport,
  uds,
  profile,
  configuration,
  message,
  command,
  httpRequest,
  mqttPackets,
  callbackAnswer,
  estRequest,
  estAnswer,
  journal,
  trustFile,
  trustChanges,
];
