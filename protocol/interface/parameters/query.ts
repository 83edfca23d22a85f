/** Query parameters and headers, each defined once. Interface 3.19.2 and 4.17.2, `parameters`. */

import { remoteTypes } from '../../remote/table.ts';
import { telemetrySections } from '../../schema/monitor/extensions.ts';
import { tripStates } from '../../schema/trip.ts';
import { countries } from '../countries.ts';
import type { Parameter, Side } from '../operation.ts';

const query = (name: string, description: string, schema: object, rest: Partial<Parameter> = {}): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  ...rest,
});

/** Accepts several values: repeated, separated by commas, or both. */
const several = (values: readonly string[], maxItems: number) => ({
  type: 'array',
  items: { type: 'string', enum: values },
  minItems: 1,
  maxItems,
});

/** Largest and default number of records per page. */
export const PAGE = 60;
/** Largest and default number of records per page for telemetry and waypoints. */
const LONG_PAGE = 2_000;

const size = (maximum: number) =>
  query('pageSize', `Entries of a page, 1 to ${maximum}.`, { type: 'integer', minimum: 1, maximum, default: PAGE });
export const pageSize = size(PAGE);
const longPageSize = size(LONG_PAGE);

export const pageToken = query(
  'pageToken',
  'Opaque name of a page, from a link of an earlier answer. It keeps its place while records arrive.',
  { type: 'string', minLength: 1, maxLength: 4_096 },
);

export const indexRange = query(
  'indexRange',
  'Entries by their place, from 0: `5-` is all from the sixth on, `0-9` the first ten.',
  { type: 'string', pattern: '^\\d{1,15}-\\d{0,15}$', default: '0-' },
  { form: 'indexes' },
);

/** Paging parameters of every collection. */
export const paging = [indexRange, pageSize, pageToken] as const;
export const longPaging = [indexRange, longPageSize, pageToken] as const;

export const timestamps = query(
  'timestamps',
  'Periods (ISO 8601-1:2019 §5.5, §5.6), any of which counts: `T1/T2`, `T1/duration`, `T/` until now, `/T` all before, ' +
    '`Rn/T/duration` or `Rn/T/duration/every` n periods, `R/…` periods until now; `every` is 24 h when absent. Both ' +
    'ends belong to a period. Moments follow RFC 3339.',
  {
    type: 'array',
    items: { type: 'string', pattern: '^[^/]*/[^/]*(/[^/]*){0,2}$', minLength: 2, maxLength: 160 },
    minItems: 1,
    maxItems: 10,
  },
  { form: 'periods' },
);

export const distance = query(
  'distance',
  'Length of the trips in km, both bounds included, each with at most one decimal: `10-50.5`, or `0.1-`.',
  { type: 'string', pattern: '^\\d{1,9}(\\.\\d)?-(\\d{1,9}(\\.\\d)?)?$', default: '0-' },
  { form: 'range' },
);

export const duration = query(
  'duration',
  'Duration of the trips in whole seconds, both bounds included: `60-3600`, or `60-`.',
  { type: 'string', pattern: '^\\d{1,15}-\\d{0,15}$', default: '0-' },
  { form: 'range' },
);

export const states = query('states', 'States of the trips.', several(tripStates, tripStates.length));

/** Largest distance of an omitted waypoint from the drawn line (Douglas and Peucker, 1973). */
export const tolerance = query(
  'tolerance',
  'The answer omits waypoints within this distance, in km, of the line through the others.',
  { type: 'number', minimum: 0, maximum: 1_000 },
);

const fleetTypes = Object.keys(telemetrySections);
const userTypes = fleetTypes.filter((name) => name !== 'vehicle.lighting' && name !== 'vehicle.drivingBehavior');

/** Interface 3.19.2 and 4.17.2 TelemetryEnum: 17 and 15 names. */
export const telemetryTypes: Readonly<Record<Side, readonly string[]>> = { fleet: fleetTypes, user: userTypes };

export const telemetryType: Readonly<Record<Side, Parameter>> = {
  fleet: query('type', 'Kinds of telemetry; all when absent.', several(fleetTypes, fleetTypes.length)),
  user: query('type', 'Kinds of telemetry; all when absent.', several(userTypes, userTypes.length)),
};

export const telemetryExtension = query(
  'extension',
  'Further members of each entry.',
  several(['location', 'maintenance'], 2),
);

/** Interface 3.19.2 AlarmTypeEnum. */
const alarmTypes = ['vehicle.alarm.status', 'vehicle.alarm.trigger'] as const;
export const alarmType = query('type', 'Kinds of alarm records; all when absent.', several(alarmTypes, 2));

export const vehicleExtension = query(
  'extension',
  'Further members of the vehicle.',
  several(['onboardCapabilities', 'branding', 'pictures'], 3),
);
export const vehiclesExtension = query(
  'extension',
  'Further members of each vehicle.',
  several(['branding', 'pictures'], 2),
);

export const vinPrefix = query('vinPrefix', 'First characters of the VINs.', {
  type: 'string',
  minLength: 1,
  maxLength: 17,
  pattern: '^[A-HJ-NPR-Za-hj-npr-z0-9]+$',
});

export const locale = query('locale', 'Language and region of texts, e.g. `fr-FR`. RFC 5646.', {
  type: 'string',
  pattern: '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4}$',
  maxLength: 48,
});

export const country = query('country', 'Country of the requested call centre for stolen cars (ISO 3166-1 alpha-2).', {
  type: 'string',
  enum: countries,
});

export const profile = query('profile', 'Whose view of the data it is.', {
  type: 'string',
  enum: ['fleet', 'endUser'],
  default: 'fleet',
});

export const remoteType = query(
  'types',
  'Callbacks of these kinds of remotes.',
  several(remoteTypes, remoteTypes.length),
);
export const callbackType = query(
  'types',
  'Callbacks for remotes, for monitors, or both.',
  several(['Remote', 'Monitor'], 2),
);

/** The IETF draft draft-ietf-httpapi-idempotency-key-header-07 §2. */
export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Names the request: sent again with the same key, it is answered as before and done once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

export const vehicleHeader: Parameter = {
  name: 'vid',
  in: 'header',
  required: false,
  description: 'Id of the vehicle that watches; may be a member of the body instead.',
  schema: { type: 'string', minLength: 1, maxLength: 256 },
};
