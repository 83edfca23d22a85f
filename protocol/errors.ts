import { defined } from './defined.ts';
/**
 * Table of all errors. For each code: its meaning, the HTTP code (status × 100 + nn, as in the interface's xError), the
 * failure cause of a command that ends with it, and whether a retry can help.
 */

/** Failure causes of a command (interface: RemoteFailedEventStatus). */
export const failureCauses = [
  'GeneralError',
  'VehicleError',
  'WrongCommand',
  'VehicleConnectionTimeout',
  'MissingRights',
  'NotPossibleDueToVehicleBatteryLevel',
  'NotPossibleDueToVehiclePrivacyLevel',
  'TooManyWakeUpsOverMonth',
  'TooManyRequestInShortTime',
  'SameActionInProgress',
  'NotPossibleDueToVehicleStolenState',
  'VehicleInUse',
  'TooManyRequestSent',
  'DoorsOpen',
  'VehicleErrorOrCidInside',
  'CidInside',
  'ExternalChargingSystemError',
  'VehicleChargingSystemError',
  'VehicleIsNotLocked',
  'CanceledByDriver',
] as const;
export type FailureCause = (typeof failureCauses)[number];

interface ErrorFact {
  readonly meaning: string;
  /** status × 100 + number within the status. */
  readonly http: number;
  readonly cause?: FailureCause;
  readonly retriable: boolean;
}

/** Error that a retry does not resolve. */
const lasting = (http: number, meaning: string, cause?: FailureCause): ErrorFact => {
  return { meaning, http, ...defined({ cause }), retriable: false };
};
const retriable: typeof lasting = (...fact) => ({ ...lasting(...fact), retriable: true });

export const errors = {
  'input.unreadable': retriable(50001, 'a file or device cannot be read'),
  'input.malformed': lasting(40001, 'input does not follow its format'),
  'input.unknown': lasting(40002, 'input names something that does not exist'),
  'usage.wrong': lasting(40003, 'the command line or an option is wrong'),
  'configuration.wrong': lasting(50002, 'configuration, profile or DBC has faults'),
  'package.missing': lasting(50003, 'an optional npm package is not installed'),
  'message.malformed': lasting(40010, 'bytes that are not a message of this protocol version'),
  'message.unbounded': lasting(41301, 'a message larger, deeper or faster than allowed'),
  'request.unauthenticated': lasting(40100, 'the request has no valid credentials, or they have expired'),
  'request.forbidden': lasting(40300, 'the caller may not do this'),
  'request.unknown': lasting(40400, 'there is nothing at this address'),
  'request.method': lasting(40500, 'the address does not accept this method'),
  'request.notAcceptable': lasting(40600, 'no media type of the answer is acceptable'),
  'request.media': lasting(41500, 'the server does not accept the media type of the body'),
  'request.misdirected': lasting(42100, 'the request names another host'),
  'request.rate': retriable(42900, 'more requests than the caller may make'),
  internal: retriable(50000, 'a fault of the program itself'),
  'link.lost': retriable(50301, 'the connection ended before the broker acknowledged'),
  'link.refused': retriable(50302, 'the broker refused the connection or the message'),
  'database.away': retriable(50304, 'the database is away'),
  'store.failed': retriable(50701, 'the disk refused a write'),
  'store.unreadable': retriable(50702, 'the disk did not return what it stores'),
  'command.malformed': lasting(40020, 'a command that is not a valid signed command', 'WrongCommand'),
  'command.unsigned': lasting(40101, 'signature wrong or key unknown', 'MissingRights'),
  'command.forbidden': lasting(40301, 'the key may not give this kind of command', 'MissingRights'),
  'command.expired': lasting(
    40901,
    'the command came, or would have been carried out, too late',
    'VehicleConnectionTimeout',
  ),
  'command.longLived': lasting(
    40021,
    'the time between issue and expiry is longer than the car accepts',
    'WrongCommand',
  ),
  'command.replayed': lasting(40902, 'the counter of the key was used before', 'MissingRights'),
  'command.busy': retriable(40903, 'the same action is in progress', 'SameActionInProgress'),
  'command.unsupported': lasting(40904, 'the profile has no way to do this', 'WrongCommand'),
  'command.vehicleInUse': retriable(
    40905,
    'an interlock refuses while the car is driven or its state is unknown',
    'VehicleInUse',
  ),
  'command.unconfirmed': retriable(50401, 'the car did not show the result in time', 'VehicleError'),
  'command.interrupted': retriable(50303, 'the agent stopped while the command ran', 'VehicleError'),
  'command.batteryLow': retriable(40906, 'a battery of the car is too low', 'NotPossibleDueToVehicleBatteryLevel'),
  'command.private': retriable(
    40907,
    'privacy in the car hides a value that the command needs',
    'NotPossibleDueToVehiclePrivacyLevel',
  ),
  'command.stolen': retriable(
    40908,
    'the car counts as stolen, or the command is only for a stolen car',
    'NotPossibleDueToVehicleStolenState',
  ),
  'command.doorsOpen': retriable(40909, 'a door or window is open', 'DoorsOpen'),
  'command.notLocked': retriable(40910, 'the car is not locked', 'VehicleIsNotLocked'),
  'command.keyInside': retriable(40911, 'a key is in the car', 'CidInside'),
  'command.keyPerhapsInside': retriable(
    50403,
    'the car did not carry out the command, perhaps because a key is in it',
    'VehicleErrorOrCidInside',
  ),
  'command.chargingStation': retriable(
    40912,
    'no cable is plugged in, or it gives no power',
    'ExternalChargingSystemError',
  ),
  'command.chargingFault': retriable(50404, 'the car reports a fault of its charging', 'VehicleChargingSystemError'),
  'command.canceled': retriable(40913, 'an act of the driver ended the command', 'CanceledByDriver'),
  'command.untrusted': lasting(40022, 'the car trusts no key of the hub for this kind of command', 'MissingRights'),
  'command.tooFast': retriable(
    42901,
    'more commands in a short time than the car accepts',
    'TooManyRequestInShortTime',
  ),
  'command.tooMany': retriable(42902, 'more commands in a day than the car accepts', 'TooManyRequestSent'),
  'command.wakeUpsUsed': lasting(42903, 'the limit of wake-ups in this month is reached', 'TooManyWakeUpsOverMonth'),
  'command.asleep': retriable(50405, 'the car did not wake up', 'VehicleConnectionTimeout'),
  'command.actuation': retriable(50402, 'the frames could not be sent, or a control unit refused', 'VehicleError'),
} as const satisfies Record<string, ErrorFact>;

export type ErrorCode = keyof typeof errors;

/** Returns the row of the table for a code. */
export function factOf(code: ErrorCode): ErrorFact {
  return errors[code];
}

/** Every error that the agent throws deliberately: a code of the table, a sentence for people, and the place. */
export class VigieError extends Error {
  readonly code: ErrorCode;
  /** File or topic, with its line if known, e.g. `car.dbc:12`. */
  readonly where: string | undefined;

  constructor(code: ErrorCode, message: string, options: { where?: string; cause?: unknown } = {}) {
    super(options.where === undefined ? message : `${options.where}: ${message}`, defined({ cause: options.cause }));
    this.name = 'VigieError';
    this.code = code;
    this.where = options.where;
  }

  get fact(): ErrorFact {
    return factOf(this.code);
  }
}

/** Returns the message of an error, or another thrown value as a string. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the result of `run`, or the VigieError that it throws. */
export function attempt<T>(run: () => T): T | VigieError {
  try {
    return run();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

/** Shortens an error's sentence to at most `length` characters: it ends after a whole word, with an ellipsis. */
export function shortened(sentence: string, length: number): string {
  if (sentence.length <= length) return sentence;
  const cut = sentence.slice(0, length - 1);
  const end = /[\s,;:.(]+\S*$/.exec(cut)?.index;
  // A sentence without spaces is cut at any character, but not within a surrogate pair.
  const kept = end === undefined || end < length / 2 ? cut.replace(/[\ud800-\udbff]$/, '') : cut.slice(0, end);
  return `${kept}…`;
}
