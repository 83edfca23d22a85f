/** Description and response of each operation, only for the document: a server does not load it. */
import type { Operation } from '../operation.ts';

const PAGED = 'The answer is a page of the collection; `_links` lead to the other pages.';
const FLEET_WIDE = 'Because Vigie serves one car, the answer covers that car alone.';

/** By id without the side prefix. */
const common: Readonly<Record<string, string>> = {
  'status.get':
    'Answers the latest known values of the vehicle (doors, energy, lights, position and others), each group with the ' +
    'time of its last change. Groups that the vehicle has not measured are absent.',
  'lastPosition.get': 'Answers the latest known position of the vehicle as a GeoJSON Feature (RFC 7946).',
  'maintenance.get': 'Answers the distance and the days that remain until the next service of the vehicle.',
  'telemetry.list':
    'Answers readings that the vehicle recorded, in order of time. `type` selects the groups of values and ' +
    `\`timestamps\` the periods. ${PAGED}`,
  'tripTelemetry.list': `Answers the readings that the vehicle recorded between the start and the end of one trip. ${PAGED}`,
  'trips.list':
    'Answers the trips of the vehicle, the current one included, with distance, duration and consumption. The ' +
    `parameters select trips by time, distance, duration and state. ${PAGED}`,
  'trips.get': 'Answers one trip with its distance, duration and consumption; an open trip has the values so far.',
  'tripWaypoints.list':
    'Answers the positions that the vehicle recorded during one trip, as GeoJSON Features. `tolerance` removes points ' +
    `that hardly change the line. ${PAGED}`,
  'alerts.list': `Answers the warnings that the vehicle raised, each with its start and, once it is over, its end. ${PAGED}`,
  'alerts.get': 'Answers one warning of the vehicle with its type, its start and, once it is over, its end.',
  'tripAlerts.list': `Answers the warnings of the vehicle during one trip. ${PAGED}`,
  'tripAlerts.get': 'Answers one warning of one trip; a warning from outside the trip is answered with 404.',
  'collisions.list': `Answers the collisions that the vehicle detected, with the side and the severity of each. ${PAGED}`,
  'collisions.get': 'Answers one collision with its time, sides and severities.',
  'tripCollisions.list': `Answers the collisions that the vehicle detected during one trip. ${PAGED}`,
  'tripCollisions.get': 'Answers one collision of one trip; a collision from outside the trip is answered with 404.',
  'alarms.list': `Answers the recorded changes of the burglar alarm. \`timestamps\` and the type select among them. ${PAGED}`,
  'alarms.get': 'Answers one recorded change of the burglar alarm with its time and, when known, the position.',
  'monitors.list': `Answers the monitors that the caller may see, each with its rule and its status. ${PAGED}`,
  'monitors.create':
    'Stores a monitor: a rule of named triggers and a boolean expression of them. The vehicle starts to evaluate it at ' +
    'once and sends a notification when the expression becomes true. Answers the id and the link of the monitor.',
  'monitors.get':
    'Answers one monitor: the rule as it was sent, its status and the times of its creation and last change.',
  'monitors.replace':
    'Puts a new rule in the place of the old one. The id and the status of the monitor stay the same. Answers the id and ' +
    'the link of the monitor.',
  'monitors.remove':
    'Deletes a monitor; the vehicle stops evaluating it. Notifications that already wait are still sent. The answer has ' +
    'no body.',
  'monitors.setStatus':
    'Pauses a monitor or resumes it. A paused monitor keeps its rule and sends no notifications. Answers the new ' +
    'status of the monitor.',
  'callbacks.list': `Answers the callbacks that the caller created. ${PAGED}`,
  'callbacks.get': 'Answers one callback: its receiver, the kinds that it accepts, and its status.',
  'callbacks.replace':
    'Replaces the receiver and the settings of a callback. Its id stays the same, so its monitors and commands stay ' +
    'attached to it. Answers the id and the link of the callback.',
  'callbacks.setStatus':
    'Pauses a callback or resumes it. Notifications of a paused callback wait until it is resumed or they expire. Answers its new status.',
  'remotes.create':
    'Gives the vehicle one command, such as locking the doors. The request is accepted before the vehicle acts; the ' +
    'callback receives each later state, and the remote can be read as well. The callback must accept this kind of ' +
    'command. Answers the id and the link of the remote.',
  'remotes.list': `Answers the commands that were sent under one callback, each with its latest state. ${PAGED}`,
  'remotes.get': 'Answers one command with its latest state and, after a failure, the cause.',
};

/** By full id: operations that only one side has, or that differ between the sides. */
const ofOneSide: Readonly<Record<string, string>> = {
  'fleet.fleets.list': `Answers the fleets that the configuration grants to the caller. ${PAGED}`,
  'fleet.fleets.get': 'Answers one fleet of the caller with links to its vehicles, monitors and callbacks.',
  'fleet.vehicles.list':
    `Answers the vehicles of a fleet that match the parameters. ${FLEET_WIDE} ${PAGED} ` +
    '`extension` adds details to each vehicle.',
  'fleet.vehicles.get': 'Answers one vehicle of a fleet: its VIN, brand and motorization. `extension` adds details.',
  'fleet.capabilities.get':
    'Finds the vehicle by its VIN and answers the data and the commands that it supports, so that a client can decide ' +
    'the data to request.',
  'fleet.fleetStatus.list': `Answers the latest known values of each vehicle of a fleet. ${FLEET_WIDE} ${PAGED}`,
  'fleet.fleetMaintenances.list': `Answers the next service of each vehicle of a fleet. ${FLEET_WIDE} ${PAGED}`,
  'fleet.fleetTrips.list': `Answers the trips of all vehicles of a fleet. ${FLEET_WIDE} ${PAGED}`,
  'fleet.fleetAlerts.list': `Answers the warnings of all vehicles of a fleet. ${FLEET_WIDE} ${PAGED}`,
  'fleet.fleetAlerts.get': 'Answers one warning of any vehicle of a fleet.',
  'fleet.fleetCollisions.list': `Answers the collisions of all vehicles of a fleet. ${FLEET_WIDE} ${PAGED}`,
  'fleet.fleetCollisions.get': 'Answers one collision of any vehicle of a fleet.',
  'fleet.stolen.list': `Answers the recorded thefts of the vehicle, each with its state. ${PAGED}`,
  'fleet.stolen.get': 'Answers one recorded theft of the vehicle with its times and its state.',
  'fleet.stolenWaypoints.list': `Answers the positions that the vehicle recorded during one theft, as GeoJSON Features. ${PAGED}`,
  'fleet.callbacks.create':
    'Stores a callback: the webhook that receives the states of commands, the kinds of commands that may be sent under ' +
    'it and its retry policy. It runs at once. Answers the id and the link of the callback.',
  'fleet.callbacks.remove':
    'Deletes a callback. Its webhook receives no further notifications of commands. The answer has no body.',
  'user.user.get': 'Answers the user whose token the request carries, with a link to the vehicles.',
  'user.vehicles.list': `Answers the vehicles of the user that match the parameters. Because Vigie serves one car, there is at most one. ${PAGED}`,
  'user.vehicles.get': 'Answers one vehicle of the user: its VIN, brand and motorization. `extension` adds details.',
  'user.callbacks.create':
    'Stores a callback: the webhook, push devices or websocket that receives events of monitors and states of commands. ' +
    'It runs at once. Answers the id and the link of the callback.',
  'user.callbacks.remove':
    'Deletes a callback together with the monitors under it. Its receiver gets no further notifications. The answer has ' +
    'no body.',
};

/** Scopes that the content of a request needs in addition to those of its operation. */
const ofContent: Readonly<Record<string, string>> = {
  'user.monitors.create': 'The token also needs the scopes of all data that the monitor watches or reports.',
  'user.monitors.replace': 'The token also needs the scopes of all data that the monitor watches or reports.',
  'user.remotes.create': 'The token also needs the scope of this kind of command.',
};

/** Ids that have a description here, with or without their side. */
export const describedIds: readonly string[] = [common, ofOneSide, ofContent].flatMap(Object.keys);

/** Returns description and response of the operation, then who may call it. */
export function descriptionOf(operation: Operation): string {
  const { id, side } = operation;
  const text = ofOneSide[id] ?? common[id.slice(side.length + 1)];
  if (text === undefined) throw new Error(`operation ${id} has no description`);
  return [text, access(operation), ofContent[id]].filter((part) => part !== undefined).join(' ');
}

function access({ side, path, scopes: { required, optional, more } }: Operation): string {
  if (side === 'fleet') {
    const fleet = path.includes('{fid}') ? ' who may see this fleet' : '';
    return `Needs the credentials of a fleet user${fleet}; scopes do not apply on this side.`;
  }
  if (more === true) return 'Needs a token with at least one scope; any of them is enough.';
  if (required.length === 0) {
    return optional.length === 0
      ? 'Needs a valid token; no scope is necessary.'
      : `Needs at least one of the scopes ${list(optional)}. The answer omits the members of a missing one.`;
  }
  const needs = `Needs the ${required.length > 1 ? 'scopes' : 'scope'} ${list(required)}.`;
  return optional.length === 0 ? needs : `${needs} Without ${list(optional)}, the answer omits their members.`;
}

const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
