/** Records raw frames around events, if the profile requests it. */
import type { CaptureView } from '../adapters/http/captures.ts';
import type { AgentPorts } from '../agent/options.ts';
import type { RecordStore } from '../agent/ports.ts';
import type { CaptureRules, FrameChoice, VehicleProfile } from '../protocol/profile.ts';

/** Returns the recorder of raw frames. Loads it only if the vehicle's profile has captures. */
export async function capturesOf({
  profile,
}: {
  readonly profile: VehicleProfile;
}): Promise<Pick<AgentPorts, 'captures'>> {
  const { captures } = profile;
  if (captures === undefined) return {};
  const { Captures } = await import('../agent/captures/captures.ts');
  return { captures: (parts) => new Captures(captures, parts) };
}

/** Returns the captures for the interface. Loads the view only if the vehicle's profile has captures. */
export async function captureViewIn(
  { profile }: { readonly profile: VehicleProfile },
  { records }: { readonly records: RecordStore },
): Promise<{ readonly captures?: CaptureView }> {
  if (profile.captures === undefined) return {};
  const { captureViewOf } = await import('./capture-view.ts');
  return { captures: captureViewOf(records) };
}

/** Returns the rules without bus names, for a car whose only bus may have any name. */
export function withoutBuses({ collision, command, monitors, positionFree }: CaptureRules): CaptureRules {
  return {
    ...(collision === undefined ? {} : { collision: withoutBus(collision) }),
    ...(command === undefined ? {} : { command: withoutBus(command) }),
    monitors: Object.fromEntries(Object.entries(monitors).map(([id, rule]) => [id, withoutBus(rule)])),
    positionFree: positionFree.map(withoutBus),
  };
}

function withoutBus<C extends FrameChoice>({ buses: _, ...choice }: C): Omit<C, 'buses'> {
  return choice;
}

/** Returns the identifiers on a bus that captures need (29-bit ones with EXTENDED); undefined: all. */
export function capturedIdentifiers({ captures }: VehicleProfile, bus: string): readonly number[] | undefined {
  if (captures === undefined) return [];
  const { collision, command, monitors } = captures;
  const rules = [collision, command, ...Object.values(monitors)].filter(
    (rule) => rule !== undefined && (rule.buses === undefined || rule.buses.includes(bus)),
  );
  const listed = rules.map((rule) => rule?.identifiers);
  return listed.includes(undefined) ? undefined : listed.flatMap((identifiers) => identifiers ?? []);
}
