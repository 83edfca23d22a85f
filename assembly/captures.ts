/** Raw frames that a profile wants kept around events. */
import type { CaptureView } from '../adapters/http/captures.ts';
import type { AgentPorts } from '../agent/options.ts';
import type { RecordStore } from '../agent/ports.ts';
import type { CaptureRules, FrameChoice, VehicleProfile } from '../protocol/profile.ts';

/** What keeps raw frames, which is loaded only for a vehicle whose profile asks for captures. */
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

/** What the interface tells of captures, which is loaded only for such a vehicle. */
export async function captureViewIn(
  { profile }: { readonly profile: VehicleProfile },
  { records }: { readonly records: RecordStore },
): Promise<{ readonly captures?: CaptureView }> {
  if (profile.captures === undefined) return {};
  const { captureViewOf } = await import('./capture-view.ts');
  return { captures: captureViewOf(records) };
}

/** The rules of a car whose only bus may have any name. */
export function withoutBuses({ collision, monitors, positionFree }: CaptureRules): CaptureRules {
  return {
    ...(collision === undefined ? {} : { collision: withoutBus(collision) }),
    monitors: Object.fromEntries(Object.entries(monitors).map(([id, rule]) => [id, withoutBus(rule)])),
    positionFree: positionFree.map(withoutBus),
  };
}

function withoutBus<C extends FrameChoice>({ buses: _, ...choice }: C): Omit<C, 'buses'> {
  return choice;
}

/** Identifiers of a bus that captures want, those of 29 bits with EXTENDED; undefined: all. */
export function capturedIdentifiers({ captures }: VehicleProfile, bus: string): readonly number[] | undefined {
  if (captures === undefined) return [];
  const { collision, monitors } = captures;
  const rules = [...(collision === undefined ? [] : [collision]), ...Object.values(monitors)].filter(
    ({ buses }) => buses === undefined || buses.includes(bus),
  );
  const listed = rules.map(({ identifiers }) => identifiers);
  return listed.includes(undefined) ? undefined : listed.flatMap((identifiers) => identifiers ?? []);
}
