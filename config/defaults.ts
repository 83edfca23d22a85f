/** All defaults with their reasons, in the units of the loaded documents (ms, bytes, m, degrees). */

import { recordingDefaults } from '../protocol/recording.ts';
import {
  callbackSettings,
  captureSettings,
  collectSettings,
  commandSettings,
  defaultsOf,
  exitSettings,
  faultSettings,
  healthSettings,
  interfaceSettings,
  linkSettings,
  outboxSettings,
  powerSettings,
  recordingSettings,
} from '../protocol/settings.ts';

/** Defaults of omitted fields of a profile. */
export const profileDefaults = {
  /** The value as scaled by the DBC. */
  scale: 1,
  offset: 0,
  /** Ten periods of the slowest common status frame (1 s): one lost frame must not switch sources. */
  failover: 10_000,
  telemetry: {
    /** 1 Hz: the rate of the recorded drives, and the most that a map or a graph of a trip can show. */
    interval: 1000,
    /** Units differ between paths, so no other number suits all: every change counts. */
    deadBand: 0,
    /** With one reading per minute, a receiver can distinguish "unchanged" from "lost" within a minute. */
    heartbeat: 60_000,
  },
  waypoints: {
    /** On straight roads: one point per minute and the speed between locate any other record. */
    interval: 60_000,
    /** A map at the scale of a motorway trip shows no finer detail. */
    distance: 1000,
    /** A U-turn on the spot adds nothing to `error`; at a junction `error` sets a point before this angle. */
    heading: 90,
    /** Half the width of a street: the route can be matched to the right one. */
    error: 10,
  },
  ...recordingDefaults,
  capture: {
    /** Together with `after`, it fits on two busy buses into the default memory of 4 MiB. */
    before: 30_000,
    after: 10_000,
  },
  obd: {
    /** An awake bus sends at least every second; three lost frames do not mean sleep. */
    asleepAfter: 3_000,
    /** About the capacity of an adapter on a serial line, and a fiftieth of a 500 kbit/s bus. */
    requestsPerSecond: 20,
    /** SAE J1979 §6.1.1.1 allows six parameters in one request. */
    parametersPerRequest: 6,
    interval: 5_000,
    longestBackOff: 600_000,
  },
  /** `for: 0` sends one frame. */
  every: 0,
  for: 0,
  /** A sleeping body network needs about 2 s to wake and the locks 1 s; people stop waiting after some seconds. */
  within: 5000,
} as const;

/** Defaults of omitted fields of the configuration. */
export const configurationDefaults = {
  /** Location of service state (Filesystem Hierarchy Standard 3.0, 5.8). */
  data: '/var/lib/vigie',
  /** A log replaces the bus, so its frames arrive at their recorded times. */
  speed: 1,
  loop: false,
  /** Bit rate of CAN on nearly every OBD connector (ISO 15765-4). */
  bitrate: 500_000,
  record: defaultsOf(recordingSettings),
  mqtt: {
    /** The topics use features of MQTT 5 (expiry, correlation), but many brokers lack it. */
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
  exits: defaultsOf(exitSettings),
  captures: defaultsOf(captureSettings),
  collect: defaultsOf(collectSettings),
  log: { level: 'info' },
} as const;
