/** A profile with only these sources: default recording rules, and no commands. */
import type { SourceMapping, VehicleProfile } from '../../protocol/profile.ts';

export function bareProfile(sources: readonly SourceMapping[] = []): VehicleProfile {
  return {
    name: 'test',
    sources,
    constants: {},
    telemetry: { default: { interval: 1000, deadBand: 0, heartbeat: 60_000 } },
    waypoints: { interval: 60_000, distance: 500, heading: 30, error: 10 },
    commands: {},
  };
}
