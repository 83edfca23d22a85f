/**
 * The one table of errors. Each code says what it means, how HTTP answers (code = status × 100 + nn, as the
 * interface's xError does), which failure cause a command ends with, and whether trying again can help.
 */

/** Causes a command may fail with (interface: RemoteFailedEventStatus). */
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

export interface ErrorFact {
  readonly meaning: string;
  /** status × 100 + number within the status. */
  readonly http: number;
  readonly cause?: FailureCause;
  readonly retriable: boolean;
}

export const errors = {
  'input.unreadable': { meaning: 'a file or device cannot be read', http: 50001, retriable: true },
  'input.malformed': { meaning: 'input does not follow its format', http: 40001, retriable: false },
  'input.unknown': { meaning: 'input names something that does not exist', http: 40002, retriable: false },
  'usage.wrong': { meaning: 'the command line or an option is wrong', http: 40003, retriable: false },
  'configuration.wrong': { meaning: 'configuration, profile or DBC has faults', http: 50002, retriable: false },
  'package.missing': { meaning: 'an optional npm package is not installed', http: 50003, retriable: false },
  'message.malformed': {
    meaning: 'bytes that are not a message of this protocol version',
    http: 40010,
    retriable: false,
  },
  'message.unbounded': { meaning: 'a message larger, deeper or faster than allowed', http: 41301, retriable: false },
  'request.unauthenticated': {
    meaning: 'the request has no valid credentials, or they have expired',
    http: 40100,
    retriable: false,
  },
  'request.forbidden': { meaning: 'the caller may not do this', http: 40300, retriable: false },
  'request.unknown': { meaning: 'there is nothing at this address', http: 40400, retriable: false },
  'request.method': { meaning: 'the address does not accept this method', http: 40500, retriable: false },
  'request.notAcceptable': { meaning: 'no media type of the answer is acceptable', http: 40600, retriable: false },
  'request.media': { meaning: 'the server does not accept the media type of the body', http: 41500, retriable: false },
  'request.misdirected': {
    meaning: 'the request names another host',
    http: 42100,
    retriable: false,
  },
  'request.rate': { meaning: 'more requests than the caller may make', http: 42900, retriable: true },
  internal: { meaning: 'a fault of the agent itself', http: 50000, retriable: true },
  'link.lost': { meaning: 'the connection ended before the broker acknowledged', http: 50301, retriable: true },
  'link.refused': { meaning: 'the broker refused the connection or the message', http: 50302, retriable: true },
  'store.failed': { meaning: 'the disk refused a write', http: 50701, retriable: true },
  'command.malformed': {
    meaning: 'a command that is not a valid signed command',
    http: 40020,
    cause: 'WrongCommand',
    retriable: false,
  },
  'command.unsigned': {
    meaning: 'signature wrong or key unknown',
    http: 40101,
    cause: 'MissingRights',
    retriable: false,
  },
  'command.forbidden': {
    meaning: 'the key may not give this kind of command',
    http: 40301,
    cause: 'MissingRights',
    retriable: false,
  },
  'command.expired': {
    meaning: 'the command came, or would have been carried out, too late',
    http: 40901,
    cause: 'VehicleConnectionTimeout',
    retriable: false,
  },
  'command.longLived': {
    meaning: 'the time between issue and expiry is longer than the car accepts',
    http: 40021,
    cause: 'WrongCommand',
    retriable: false,
  },
  'command.replayed': {
    meaning: 'the counter of the key was used before',
    http: 40902,
    cause: 'MissingRights',
    retriable: false,
  },
  'command.busy': {
    meaning: 'the same action is in progress',
    http: 40903,
    cause: 'SameActionInProgress',
    retriable: true,
  },
  'command.unsupported': {
    meaning: 'the profile has no way to do this',
    http: 40904,
    cause: 'WrongCommand',
    retriable: false,
  },
  'command.vehicleInUse': {
    meaning: 'an interlock refuses while the car is driven or its state is unknown',
    http: 40905,
    cause: 'VehicleInUse',
    retriable: true,
  },
  'command.unconfirmed': {
    meaning: 'the car did not show the result in time',
    http: 50401,
    cause: 'VehicleError',
    retriable: true,
  },
  'command.interrupted': {
    meaning: 'the agent stopped while the command ran',
    http: 50303,
    cause: 'VehicleError',
    retriable: true,
  },
  'command.batteryLow': {
    meaning: 'a battery of the car is too low',
    http: 40906,
    cause: 'NotPossibleDueToVehicleBatteryLevel',
    retriable: true,
  },
  'command.private': {
    meaning: 'privacy in the car hides a value that the command needs',
    http: 40907,
    cause: 'NotPossibleDueToVehiclePrivacyLevel',
    retriable: true,
  },
  'command.stolen': {
    meaning: 'the car counts as stolen, or the command is only for a stolen car',
    http: 40908,
    cause: 'NotPossibleDueToVehicleStolenState',
    retriable: true,
  },
  'command.doorsOpen': { meaning: 'a door or window is open', http: 40909, cause: 'DoorsOpen', retriable: true },
  'command.notLocked': { meaning: 'the car is not locked', http: 40910, cause: 'VehicleIsNotLocked', retriable: true },
  'command.keyInside': { meaning: 'a key is in the car', http: 40911, cause: 'CidInside', retriable: true },
  'command.keyPerhapsInside': {
    meaning: 'the car did not carry out the command, perhaps because a key is in it',
    http: 50403,
    cause: 'VehicleErrorOrCidInside',
    retriable: true,
  },
  'command.chargingStation': {
    meaning: 'no cable is plugged in, or it gives no power',
    http: 40912,
    cause: 'ExternalChargingSystemError',
    retriable: true,
  },
  'command.chargingFault': {
    meaning: 'the car reports a fault of its charging',
    http: 50404,
    cause: 'VehicleChargingSystemError',
    retriable: true,
  },
  'command.canceled': {
    meaning: 'an act of the driver ended the command',
    http: 40913,
    cause: 'CanceledByDriver',
    retriable: true,
  },
  'command.tooFast': {
    meaning: 'more commands in a short time than the car accepts',
    http: 42901,
    cause: 'TooManyRequestInShortTime',
    retriable: true,
  },
  'command.tooMany': {
    meaning: 'more commands in a day than the car accepts',
    http: 42902,
    cause: 'TooManyRequestSent',
    retriable: true,
  },
  'command.wakeUpsUsed': {
    meaning: 'the limit of wake-ups in this month is reached',
    http: 42903,
    cause: 'TooManyWakeUpsOverMonth',
    retriable: false,
  },
  'command.asleep': {
    meaning: 'the car did not wake up',
    http: 50405,
    cause: 'VehicleConnectionTimeout',
    retriable: true,
  },
  'command.actuation': {
    meaning: 'the frames could not be sent, or a control unit refused',
    http: 50402,
    cause: 'VehicleError',
    retriable: true,
  },
} as const satisfies Record<string, ErrorFact>;

export type ErrorCode = keyof typeof errors;

/** The table's line for a code. */
export function factOf(code: ErrorCode): ErrorFact {
  return errors[code];
}

/** Every error the agent throws on purpose: a code of the table, a sentence for people, and where it happened. */
export class VigieError extends Error {
  readonly code: ErrorCode;
  /** File or topic, with line when there is one, e.g. `car.dbc:12`. */
  readonly where: string | undefined;

  constructor(code: ErrorCode, message: string, options: { where?: string; cause?: unknown } = {}) {
    super(options.where === undefined ? message : `${options.where}: ${message}`, { cause: options.cause });
    this.name = 'VigieError';
    this.code = code;
    this.where = options.where;
  }

  get fact(): ErrorFact {
    return factOf(this.code);
  }
}

/** What `run` gives, or the VigieError that it throws. */
export function attempt<T>(run: () => T): T | VigieError {
  try {
    return run();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}
