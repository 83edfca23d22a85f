/** Sections of a profile that define what is recorded, and when. */
import { defined } from '../protocol/defined.ts';
import type {
  AlertRule,
  CollisionRule,
  TelemetryRule,
  TheftRule,
  TripRule,
  WaypointRule,
} from '../protocol/recording.ts';
import { slotByPath } from '../protocol/slots.ts';
import { profileDefaults } from './defaults.ts';
import { type Findings, pointer } from './findings.ts';
import type { AlertInput, ProfileInput, TelemetryInput } from './profile-schema.ts';
import { readDuration, writeDuration } from './quantities.ts';
import { slotAt } from './values.ts';

/**
 * Reads `telemetry`. A path inherits omitted fields from `default`, and `default` from {@link profileDefaults}.
 * `fed` contains the paths that can have a value.
 * @returns rules by path, and `default`
 */
export function readTelemetry(
  section: Readonly<Record<string, TelemetryInput>>,
  fed: ReadonlySet<string>,
  findings: Findings,
): Record<string, TelemetryRule> {
  const written = Object.hasOwn(section, 'default') && findings.sound(pointer('telemetry', 'default'));
  const rest = combine(written ? (section['default'] as TelemetryInput) : {}, profileDefaults.telemetry);
  const rules: Record<string, TelemetryRule> = { default: rest };
  const inherited = written || !Object.hasOwn(section, 'default');
  if (written) checkRule(rest, pointer('telemetry', 'default'), findings);
  if (rest.deadBand > 0) {
    findings.warning(
      pointer('telemetry', 'default', 'deadBand'),
      'one dead-band for paths of all units, e.g. km/h and degrees of latitude',
      'give it to each path that needs one',
    );
  }
  for (const [path, input] of Object.entries(section)) {
    if (path === 'default') continue;
    const at = pointer('telemetry', path);
    const slot = slotAt(path, at, findings);
    if (slot === undefined || !findings.sound(at)) continue;
    if (!fed.has(path)) findings.warning(at, `this profile has no source for ${path}`, 'add it to status');
    const rule = combine(input, rest);
    if (slot.kind !== 'quantity') {
      if (input.deadBand !== undefined && input.deadBand > 0) {
        findings.error(`${at}/deadBand`, `${path} is not a number: it has no dead-band`, 'remove deadBand');
      }
      rules[path] = { ...rule, deadBand: 0 };
    } else {
      const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = slot;
      if (rule.deadBand >= maximum - minimum) {
        findings.error(
          `${at}/deadBand`,
          `${path} has a range of ${maximum - minimum} and can never change by this dead-band`,
        );
      }
      rules[path] = rule;
    }
    // Do not report faults that the path inherits from a faulty `default`.
    if (inherited) checkRule(rule, at, findings);
  }
  if (rest.deadBand > 0) exempt(rules, fed);
  return rules;
}

/** Sets the dead-band to 0 for paths that are not numbers and that have no rule of their own. */
function exempt(rules: Record<string, TelemetryRule>, fed: ReadonlySet<string>): void {
  for (const path of fed) {
    const slot = slotByPath.get(path);
    if (slot !== undefined && slot.kind !== 'quantity' && rules[path] === undefined) {
      rules[path] = { ...(rules['default'] as TelemetryRule), deadBand: 0 };
    }
  }
}

function combine(input: TelemetryInput, rest: TelemetryRule): TelemetryRule {
  return {
    interval: input.interval === undefined ? rest.interval : readDuration(input.interval),
    deadBand: input.deadBand ?? rest.deadBand,
    heartbeat: input.heartbeat === undefined ? rest.heartbeat : readDuration(input.heartbeat),
    ...resolutionOf(input, rest),
  };
}

/** Resolutions of times, as written in the profile, in ms. */
export const timeSteps = { '1ms': 1, '10ms': 10, '100ms': 100 } as const;

function resolutionOf({ resolution }: TelemetryInput, rest: TelemetryRule): Pick<TelemetryRule, 'resolution'> {
  if (resolution !== undefined) return { resolution: timeSteps[resolution] };
  return defined({ resolution: rest.resolution });
}

/** Reports the faults of a rule at `at`. */
export function checkRule(rule: TelemetryRule, at: string, findings: Findings): void {
  if (rule.heartbeat >= rule.interval) return;
  findings.error(
    at,
    `a reading would be repeated after ${writeDuration(rule.heartbeat)} and allowed only every ${writeDuration(rule.interval)}`,
    'make heartbeat at least as long as interval',
  );
}

/** Reads `waypoints`. */
export function readWaypoints(section: NonNullable<ProfileInput['waypoints']>): WaypointRule {
  const { interval, distance, heading, error } = profileDefaults.waypoints;
  return {
    interval: section.interval === undefined ? interval : readDuration(section.interval),
    distance: section.distance ?? distance,
    heading: section.heading ?? heading,
    error: section.error ?? error,
  };
}

/** Reads the rules in `alerts`, without the sources. @returns rules by type, and `default` */
export function readAlerts(
  section: Readonly<Record<string, AlertInput>>,
  findings: Findings,
): Record<string, AlertRule> {
  const rules: Record<string, AlertRule> = { default: profileDefaults.alert };
  for (const [type, input] of Object.entries(section)) {
    if (!findings.sound(pointer('alerts', type))) continue;
    const { severity, onAfter, offAfter } = input;
    rules[type] = {
      onAfter: time(onAfter, profileDefaults.alert.onAfter),
      offAfter: time(offAfter, profileDefaults.alert.offAfter),
      ...defined({ severity }),
    };
  }
  return rules;
}

/** Reads `trips`. */
export function readTrips(section: NonNullable<ProfileInput['trips']>): TripRule {
  const { grace, moving, silence } = profileDefaults.trip;
  return {
    grace: time(section.grace, grace),
    moving: section.moving ?? moving,
    silence: time(section.silence, silence),
  };
}

/** Reads `impact`. */
export function readImpact(section: NonNullable<ProfileInput['impact']>): CollisionRule {
  const { threshold, speedChange, before, after } = profileDefaults.collision;
  return {
    threshold: section.threshold ?? threshold,
    speedChange: section.speedChange ?? speedChange,
    before: time(section.before, before),
    after: time(section.after, after),
  };
}

/** Reads `theft`. */
export function readTheft(section: NonNullable<ProfileInput['theft']>): TheftRule {
  const { distance, within } = profileDefaults.theft;
  return { distance: section.distance ?? distance, within: time(section.within, within) };
}

function time(written: number | string | undefined, fallback: number): number {
  return written === undefined ? fallback : readDuration(written);
}
