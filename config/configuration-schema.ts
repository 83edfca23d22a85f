/** The form of vigie.yaml. Files and members that must go together are checked in configuration.ts. */
import Type, { type Static } from 'typebox';
import { choice, closed, duration, format, line, listOf, NAME, number, size, truth } from './fields.ts';

/** The configuration format that this version reads. */
export const configurationVersion = 1;

const file = (description: string) => line(description, { expected: 'the path of a file' });

const input = closed(
  {
    bus: line('Logical bus of the profile', { pattern: NAME, expected: 'the name of a bus of the profile' }),
    simulated: Type.Optional(truth('The simulated car')),
    log: Type.Optional(file('A log file, or `-` for standard input, e.g. from `candump -L`')),
    speed: Type.Optional(number('1 = as recorded, 2 = twice as fast', { exclusiveMinimum: 0, maximum: 1e6 })),
    loop: Type.Optional(truth('Begin again when the log ends')),
  },
  'Where the frames of a bus come from',
);

const mqtt = closed(
  {
    url: line('Broker', {
      pattern: '^(mqtts?|wss?)://[^\\s/@?#]+(/[^\\s@?#]*)?$',
      expected: 'an address such as mqtts://broker.example:8883, without user name or password in it',
    }),
    protocol: Type.Optional(
      Type.Unsafe<'auto' | '5' | '3.1.1' | 5>({
        enum: ['auto', '5', '3.1.1', 5],
        description: 'MQTT version; auto tries 5 first',
        'x-expected': 'auto, 5 or 3.1.1',
      }),
    ),
    username: Type.Optional(line('User name at the broker')),
    passwordFile: Type.Optional(file('File that contains the password and nothing else')),
    ca: Type.Optional(file('Certificates (PEM) of the authorities that the broker is checked against')),
    cert: Type.Optional(file("The vehicle's certificate (PEM); its common name is the VIN")),
    key: Type.Optional(file('Private key of the certificate (PEM)')),
    keepalive: Type.Optional(duration('Silence after which the broker is asked for a sign of life')),
  },
  'The way to the cloud',
);

export const configurationSchema = closed(
  {
    configuration: format(configurationVersion, 'Version of this format'),
    vin: line('Vehicle identification number (ISO 3779)', {
      pattern: '^[A-HJ-NPR-Z0-9]{17}$',
      expected: 'a vehicle identification number: 17 capital letters and digits without I, O and Q (ISO 3779)',
    }),
    profile: line('Name of a shipped profile, or a path (with / or ending in .yaml) relative to this file'),
    data: Type.Optional(file('Folder of the records; created if missing')),
    can: listOf(input, 1, 'Inputs, by bus'),
    mqtt,
    commands: Type.Optional(
      closed(
        { trust: file('The keys that may give commands, and which') },
        'Remote commands; without it none is accepted',
      ),
    ),
    outbox: Type.Optional(
      closed(
        { limit: Type.Optional(size('Most that may wait on disk')) },
        'Messages that wait for their acknowledgement',
      ),
    ),
    log: Type.Optional(
      closed({ level: Type.Optional(choice(['error', 'warn', 'info'], 'What is said')) }, 'What people can read'),
    ),
  },
  'Configuration of the agent in one car',
);

export type ConfigurationInput = Static<typeof configurationSchema>;
export type CanInputInput = Static<typeof input>;
export type MqttInput = Static<typeof mqtt>;
