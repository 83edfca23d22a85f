/** Formats the figures of a fleet as a table. */
import { availableParallelism } from 'node:os';
import type { Departure } from '../scenarios/drive.ts';
import type { BrokerFloor, CopyFloor } from './floors.ts';

export interface FleetOptions {
  readonly cars: number;
  /** Time for which each car drives, in minutes of car time. */
  readonly minutes: number;
  /** Ratio of car time to real time. */
  readonly speed: number;
  /** A name in {@link brokers}, or `embedded`. */
  readonly broker: string;
  /** Number of broker nodes. */
  readonly nodes: number;
  readonly database: 'postgresql' | 'sqlite';
  /** If true, a hub and PostgreSQL are killed during the run. */
  readonly failures: boolean;
  /** Number of readings per message if the cars send only telemetry. If omitted, they send the messages of an agent. */
  readonly readings?: number;
  readonly say: (text: string) => void;
}

/** Processor time in s of all parts, and number of messages that hubs have received, at one time. */
export interface FleetMoment {
  readonly at: number;
  readonly hubs: number;
  readonly broker: number;
  readonly database: number;
  readonly cars: number;
  readonly taken: number;
}

/** Results of requests for Status. */
export interface FleetAnswers {
  /** Durations in ms of the requests during the steady phase. */
  readonly answers: readonly number[];
  /** Number of requests in the whole run for cars that had not yet sent Status. */
  readonly unheard: number;
  /** Number of responses in the whole run that came from a different hub than the one asked first. */
  readonly elsewhere: number;
  /** Number of requests in the whole run to which no hub responded. */
  readonly failed: number;
}

/** Results of a fleet, which {@link tableOf} formats. */
export interface FleetReport {
  readonly options: FleetOptions;
  readonly drive: readonly Departure[];
  readonly readings: number;
  /** Time in s until all cars are connected. */
  readonly connectedIn: number;
  /** Memory of the broker per connection in bytes; 0 for the embedded broker. */
  readonly connectionBytes: number;
  readonly acknowledged: number;
  readonly repeated: number;
  readonly mqttBytes: number;
  readonly stored: number;
  readonly lost: number;
  readonly duplicated: number;
  /** Phase in which all cars drive and no process is killed. */
  readonly steady: { readonly seconds: number; readonly from: FleetMoment; readonly to: FleetMoment };
  readonly databaseBytes: number;
  /** Sizes in bytes of the largest tables and indexes. */
  readonly tables: ReadonlyMap<string, number>;
  readonly questions: FleetAnswers;
  readonly floors: { readonly broker?: BrokerFloor; readonly copy?: CopyFloor };
}

/** Hours that a car drives per month, from which the cost of a car is computed. */
const HOURS = 30;

export function tableOf(report: FleetReport): string {
  const { options, drive, steady, stored, floors, questions } = report;
  const { from, to, seconds } = steady;
  const figure = (value: number, digits = 1): string => value.toLocaleString('en', { maximumFractionDigits: digits });
  const taken = Math.max(1, to.taken - from.taken);
  const micros = (of: (moment: typeof from) => number): number => ((of(to) - of(from)) / taken) * 1e6;
  const [hub, broker, database] = [micros(({ hubs }) => hubs), micros((m) => m.broker), micros((m) => m.database)];
  // The processor time of all parts, including the cars, grows with the number of cars.
  const busy = (['hubs', 'broker', 'database', 'cars'] as const).reduce((sum, part) => sum + to[part] - from[part], 0);
  const perMessage = report.databaseBytes / Math.max(1, stored);
  const readings = report.readings / drive.length;
  const payloads = drive.reduce((sum, { payload }) => sum + payload.length, 0);
  const sorted = questions.answers.toSorted((a, b) => a - b);
  const quantile = (part: number): string =>
    sorted.length === 0 ? 'none' : figure(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
  const monthly = (drive.length / options.minutes) * 60 * HOURS;
  const rows: readonly (readonly [string, string])[] = [
    ['cars', `${figure(options.cars, 0)}, connected in ${figure(report.connectedIn)} s`],
    [
      'a car sends',
      `${figure(drive.length / options.minutes)} messages and ${figure(report.readings / options.minutes, 0)} readings a minute`,
    ],
    ...(options.broker === 'embedded'
      ? []
      : ([['broker: memory a connection', `${figure(report.connectionBytes / 1024)} KiB`]] as const)),
    ['acknowledged by the broker', `${figure(report.acknowledged)} (${figure(report.repeated)} sent again)`],
    ['stored', figure(stored)],
    ['lost', figure(report.lost)],
    ['duplicated', figure(report.duplicated)],
    [`messages/s, all cars driving, ${figure(seconds, 0)} s`, figure(taken / seconds)],
    [
      `cars that ${availableParallelism()} cores carry, by processor time`,
      figure((options.cars * availableParallelism() * seconds) / busy, 0),
    ],
    ['hub: CPU a message, commit included', `${figure(hub)} µs`],
    ['broker: CPU a message', options.broker === 'embedded' ? 'in the hub' : `${figure(broker)} µs`],
    ['PostgreSQL: CPU a message', options.database === 'sqlite' ? 'in the hub' : `${figure(database)} µs`],
    ...(floors.broker === undefined
      ? []
      : ([
          [
            'floor: broker, receiver only acknowledges',
            `${figure(floors.broker.broker)} µs at ${figure(floors.broker.rate)} messages/s`,
          ],
          ['floor: that receiver', `${figure(floors.broker.receiver)} µs`],
        ] as const)),
    ...(floors.copy === undefined
      ? []
      : ([
          [
            'floor: COPY of the same payloads',
            `${figure(floors.copy.cpu)} µs and ${figure(floors.copy.bytes, 0)} bytes a message`,
          ],
        ] as const)),
    ['database: bytes a message', `${figure(perMessage, 0)}, keys and indexes included`],
    ...[...report.tables].map(
      ([name, bytes]) => [`database: of these ${name}`, figure(bytes / Math.max(1, stored), 0)] as const,
    ),
    [
      'of these the payload',
      `${figure(payloads / drive.length, 0)} a message, ${figure(payloads / report.readings, 2)} a reading`,
    ],
    ['database: bytes a reading', `${figure(perMessage / readings, 2)} at ${figure(readings)} readings a message`],
    [`GET status, ${sorted.length} answers`, `p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms`],
    ['GET status, whole run: no hub answered', figure(questions.failed, 0)],
    ['the other hub answered', figure(questions.elsewhere, 0)],
    ['asked before the car had sent Status', figure(questions.unheard, 0)],
    [`a car that drives ${HOURS} hours a month: CPU`, `${figure((monthly * (hub + broker + database)) / 1e6)} s`],
    ['MQTT, both ways', `${figure(((report.mqttBytes / Math.max(1, report.acknowledged)) * monthly) / 1e6)} MB`],
    ['disk', `${figure((monthly * perMessage) / 1e6)} MB`],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(44)} ${value}`).join('\n');
}
