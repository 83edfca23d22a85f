/** Every default, in the units of the loaded documents (ms, bytes, m, degrees), with its reason. */

import { recordingDefaults } from '../protocol/recording.ts';

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
    /** A receiver can tell "unchanged" from "lost" within a minute, for one reading a minute. */
    heartbeat: 60_000,
  },
  waypoints: {
    /** On a straight road at 90 km/h: a point every 250 m, enough to place any other record. */
    interval: 10_000,
    /** In town: two points a block. */
    distance: 50,
    /** Less is the noise of a receiver at walking pace; more cuts the corner of a junction. */
    heading: 15,
  },
  ...recordingDefaults,
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
  mqtt: {
    /** 5 has what the topics want (expiry, correlation); a broker that lacks it is common. */
    protocol: 'auto',
    /** Below the five minutes after which mobile networks commonly forget an idle connection. */
    keepalive: 60_000,
  },
  outbox: {
    /** About a week of driving two hours a day, and small on the smallest flash. */
    limit: 64 * 2 ** 20,
  },
  log: { level: 'info' },
} as const;
