/** Schema of vigie.yaml. configuration.ts checks files, and fields that depend on each other. */

import type { Static } from 'typebox';
import * as Type from 'typebox';
import {
  captureSettings,
  collectSettings,
  commandSettings,
  exitSettings,
  faultSettings,
  healthSettings,
  linkSettings,
  outboxSettings,
  recordingSettings,
} from '../protocol/settings.ts';
import { languages } from '../protocol/words/languages.ts';
import { abrpSchema } from './abrp.ts';
import { callbacksSchema } from './callbacks.ts';
import { choice, closed, filePath, format, line, listOf, NAME, number, truth } from './fields.ts';
import { httpSchema } from './http.ts';
import { influxSchema } from './influx.ts';
import { monitorsSchema } from './monitors.ts';
import { powerSchema } from './power.ts';
import { members } from './settings.ts';

/** Format version of vigie.yaml that this version reads. */
const configurationVersion = 1;

/** OBD protocols, in the order of the ELM327 data sheet, where the numbers start at 1: `SP h`. */
export const obdProtocols = [
  'j1850-pwm',
  'j1850-vpw',
  'iso-9141-2',
  'kwp-5-baud',
  'kwp-fast',
  'can-11-500',
  'can-29-500',
  'can-11-250',
  'can-29-250',
] as const;

const address = (description: string) =>
  line(description, {
    expected: 'a line: /dev/ttyUSB0, serial:/dev/ttyUSB0?baud=38400, tcp://host:port or file:/path',
  });

const input = closed('Source of the frames of a bus', {
  bus: line('Logical bus of the profile', { pattern: NAME, expected: 'the name of a bus of the profile' }),
  simulated: Type.Optional(truth('The simulated car')),
  log: Type.Optional(filePath('A log file, or `-` for standard input, e.g. from `candump -L`')),
  speed: Type.Optional(number('1 = as recorded, 2 = twice as fast', { exclusiveMinimum: 0, maximum: 1e6 })),
  loop: Type.Optional(truth('Begin again when the log ends')),
  socketcan: Type.Optional(
    line('A CAN interface of this machine', {
      pattern: '^[^\\s/:]{1,15}$',
      expected: 'the name of a network interface, such as can0',
    }),
  ),
  slcan: Type.Optional(address('A CAN adapter that speaks slcan')),
  bitrate: Type.Optional(
    Type.Unsafe<number | string>({
      type: ['integer', 'string'],
      minimum: 1000,
      maximum: 1_000_000,
      pattern: '^[0-9]{1,4}k$',
      description: 'Bits a second of the bus behind an slcan adapter; default 500k',
      'x-expected': 'a bit rate such as 500k',
    }),
  ),
});

const obd = closed('Intervals and priorities of polling', {
  bus: Type.Optional(line('Bus of the profile that has `obd`', { pattern: NAME, expected: 'the name of a bus' })),
  elm327: Type.Optional(address('An adapter with an ELM327 or STN chip')),
  isotp: Type.Optional(
    line('An entry of `can` with a live bus that the agent polls directly (ISO 15765-2)', {
      pattern: NAME,
      expected: 'the name of a bus under can',
    }),
  ),
  protocol: Type.Optional(
    choice(obdProtocols, 'Protocol of the car; by default the adapter finds out with the first request'),
  ),
});

const gnss = closed('A satellite receiver', {
  bus: Type.Optional(line('Bus of the profile that has `gnss`', { pattern: NAME, expected: 'the name of a bus' })),
  nmea: Type.Optional(address('A receiver that speaks NMEA 0183 or UBX')),
  gpsd: Type.Optional(address('gpsd, e.g. tcp://localhost:2947')),
  clock: Type.Optional(truth('Its time sets the clock of the agent; default true')),
});

const record = closed('Frames of all live buses as candump logs', {
  folder: filePath('Folder of the recordings; created if missing'),
  ...members(recordingSettings),
});

const broker = (description: string) =>
  line(description, {
    pattern: '^mqtts?://[^\\s/@?#]+/?$',
    expected: 'an address such as mqtts://broker.example:8883, without user name or password in it',
  });

/** Fields that configure the connection to a broker. */
export const brokerMembers = {
  url: broker('Broker'),
  fallbacks: Type.Optional(
    listOf(broker('Broker'), 1, 'Brokers that stand in for it, in the order of preference; all encrypted, or none'),
  ),
  protocol: Type.Optional(
    Type.Unsafe<'auto' | '5' | '3.1.1' | 5>({
      enum: ['auto', '5', '3.1.1', 5],
      description: 'MQTT version; auto tries 5 first',
      'x-expected': 'auto, 5 or 3.1.1',
    }),
  ),
  username: Type.Optional(line('User name at the broker')),
  passwordFile: Type.Optional(filePath('File that contains only the password')),
  ca: Type.Optional(filePath('Certificates (PEM) of the authorities that the broker is checked against')),
  cert: Type.Optional(filePath("The vehicle's certificate (PEM); its common name is the VIN")),
  key: Type.Optional(filePath('Private key of the certificate (PEM)')),
  crl: Type.Optional(filePath('Revocation lists (PEM) of the authorities of the broker')),
};

const mqtt = closed('The connection to the cloud', {
  ...brokerMembers,
  est: Type.Optional(
    line('Enrolment of the hub (EST, RFC 7030), which renews the certificate; `vigie enroll` writes it', {
      pattern: '^https://[^\\s/@?#]+/?$',
      expected: 'an address such as https://hub.example:8443',
    }),
  ),
  ...members(linkSettings),
});

/** Members of exits that a car and a hub have. */
export const exitMembers = {
  mqtt: Type.Optional(closed('The broker of the plain topics', brokerMembers)),
  influx: Type.Optional(influxSchema),
  prefix: Type.Optional(
    line('Beginning of all topics; default vigie/plain', {
      pattern: '^[^\\s#+/$][^\\s#+]{0,100}[^\\s#+/]$',
      expected: 'a topic such as vigie/plain, without #, + and a slash at its end',
    }),
  ),
  form: Type.Optional(
    choice(['value', 'json'], 'Only the value (default), or an object with value, unit, time and freshness'),
  ),
  retain: Type.Optional(truth('The broker keeps the last value of each topic; default true')),
  homeAssistant: Type.Optional(
    closed('Discovery messages for Home Assistant', {
      language: Type.Optional(choice(languages, 'Language of the names; default en')),
      prefix: Type.Optional(
        line('Beginning of the discovery topics; default homeassistant', {
          pattern: '^[^\\s#+/$]{1,64}$',
          expected: 'the discovery prefix of Home Assistant, such as homeassistant',
        }),
      ),
    }),
  ),
  scopes: Type.Optional(
    listOf(
      line('A scope as in tokens', {
        pattern: '^(data|remote):[a-zA-Z:]+$',
        expected: 'a scope such as data:telemetry',
      }),
      0,
      'What the receivers get and the broker may command; default data:telemetry and data:position, and no command',
    ),
  ),
  ...members(exitSettings),
};

const exits = closed('Receivers of values beside the cloud; see docs/exits.md', {
  ...exitMembers,
  abrp: Type.Optional(abrpSchema),
});

export const configurationSchema = closed('Configuration of the agent in one car', {
  configuration: format(configurationVersion, 'Version of this format'),
  vin: Type.Optional(
    line('Vehicle identification number (ISO 3779); without it, it is read from the car by `obd`', {
      pattern: '^[A-HJ-NPR-Z0-9]{17}$',
      expected: 'a vehicle identification number: 17 capital letters and digits without I, O and Q (ISO 3779)',
    }),
  ),
  profile: line('Name of a shipped profile, or a path (with / or ending in .yaml) relative to this file'),
  data: Type.Optional(filePath('Folder of the records; created if missing')),
  can: Type.Optional(listOf(input, 0, 'Inputs of frames, by bus')),
  obd: Type.Optional(obd),
  faults: Type.Optional(
    closed(
      'Fault codes read by `obd` and of `controlUnits` of the profile; without it the agent reads none',
      members(faultSettings),
    ),
  ),
  gnss: Type.Optional(gnss),
  record: Type.Optional(record),
  mqtt,
  commands: Type.Optional(
    closed('Remote commands; without it the car accepts no command', {
      trust: filePath('The keys that may give commands, and which'),
      ...members(commandSettings),
    }),
  ),
  outbox: Type.Optional(closed('Messages that wait for their acknowledgement', members(outboxSettings))),
  metrics: Type.Optional(
    closed('Counters in the format of Prometheus', {
      listen: line('Where they are served', {
        pattern: '^(unix:[^\\s]+|(127(\\.[0-9]{1,3}){3}|localhost|\\[::1\\]):[0-9]{1,5})$',
        expected:
          'a Unix socket such as unix:/run/vigie/metrics.sock, or a port of this machine such as 127.0.0.1:9464',
      }),
    }),
  ),
  health: Type.Optional(closed('How the agent fares', members(healthSettings))),
  power: Type.Optional(powerSchema),
  http: Type.Optional(httpSchema),
  callbacks: Type.Optional(callbacksSchema),
  exits: Type.Optional(exits),
  captures: Type.Optional(closed('Raw frames around events; the profile says of which', members(captureSettings))),
  collect: Type.Optional(closed('Signals that are recorded by command', members(collectSettings))),
  monitors: Type.Optional(monitorsSchema),
  timeZone: Type.Optional(
    line('Time zone of the car, in which programs of charging and preconditioning are', {
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$',
      expected: 'a name of the IANA data base, such as Europe/Paris',
    }),
  ),
  log: Type.Optional(
    closed('Text for people', { level: Type.Optional(choice(['error', 'warn', 'info'], 'What is said')) }),
  ),
});

export type ConfigurationInput = Static<typeof configurationSchema>;
export type CanInputInput = Static<typeof input>;
export type MqttInput = Static<typeof mqtt>;
export type ExitsInput = Static<typeof exits>;
