/** Every default, in the units of the loaded documents (ms, bytes, m, degrees), with its reason. */

import { recordingDefaults } from '../protocol/recording.ts';
import {
  callbackSettings,
  captureSettings,
  collectSettings,
  commandSettings,
  defaultsOf,
  faultSettings,
  healthSettings,
  interfaceSettings,
  linkSettings,
  outboxSettings,
  powerSettings,
  recordingSettings,
} from '../protocol/settings.ts';

/** Profile: what a member that is left out means. */
export const profileDefaults = {
  /** A value is taken as the DBC scales it. */
  scale: 1,
  offset: 0,
  /** Ten periods of the slowest status frame that is common (1 s): one lost frame must not swap sources. */
  failover: 10_000,
  telemetry: {
    /** 1 Hz is what the recorded drives hold and what a map or a graph of a trip can show. */
    interval: 1000,
    /** Units differ from path to path, so no other number could suit all: every change is one. */
    deadBand: 0,
    /** With one reading a minute, a receiver can distinguish "unchanged" from "lost" within a minute. */
    heartbeat: 60_000,
  },
  waypoints: {
    /** Where the road is straight: a point a minute places any other record, with the speed between. */
    interval: 60_000,
    /** A map at the scale of a motorway trip shows no less. */
    distance: 1000,
    /** A U-turn on the spot leaves no trace in the error; a junction is cut by it before it turns this far. */
    heading: 90,
    /** Half the width of a street: the way can be matched to the right one. */
    error: 10,
  },
  ...recordingDefaults,
  capture: {
    /** With what comes after it, a default of 4 MiB holds it on two busy buses. */
    before: 30_000,
    after: 10_000,
  },
  obd: {
    /** A bus that speaks at all speaks every second; three lost frames are not sleep. */
    asleepAfter: 3_000,
    /** About what an adapter on a serial line can do, and a fiftieth of a bus of 500 kbit/s. */
    requestsPerSecond: 20,
    /** SAE J1979 §6.1.1.1 allows six in one request. */
    parametersPerRequest: 6,
    interval: 5_000,
    longestBackOff: 600_000,
  },
  /** `for: 0` is one frame. */
  every: 0,
  for: 0,
  /** A sleeping body network needs about 2 s to wake and the locks 1 s; people give up after some seconds. */
  within: 5000,
} as const;

/** Configuration: what a member that is left out means. */
export const configurationDefaults = {
  /** State of a service lives here (Filesystem Hierarchy Standard 3.0, 5.8). */
  data: '/var/lib/vigie',
  /** A log stands in for the bus, so its frames come when they came. */
  speed: 1,
  loop: false,
  /** CAN of nearly every OBD connector (ISO 15765-4). */
  bitrate: 500_000,
  record: defaultsOf(recordingSettings),
  mqtt: {
    /** 5 has what the topics want (expiry, correlation); a broker that lacks it is common. */
    protocol: 'auto',
    ...defaultsOf(linkSettings),
  },
  outbox: defaultsOf(outboxSettings),
  commands: defaultsOf(commandSettings),
  power: defaultsOf(powerSettings),
  faults: defaultsOf(faultSettings),
  health: defaultsOf(healthSettings),
  http: defaultsOf(interfaceSettings),
  callbacks: defaultsOf(callbackSettings),
  captures: defaultsOf(captureSettings),
  collect: defaultsOf(collectSettings),
  log: { level: 'info' },
} as const;
