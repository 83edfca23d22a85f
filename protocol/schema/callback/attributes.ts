/** Attributes of a notification: Attribute of both lines (3.19.2, 4.17.2), with its variables. */
import { enumeration, list, record, required, type Static, text } from '../fields.ts';
import { type Member, malformed } from '../monitor/input.ts';

/** Interface 3.19.2 Attribute.type: a header, a field of `attributes` in the body, or a parameter of the query. */
export const attributePlaces = ['Header', 'Body', 'Query'] as const;
export type AttributePlace = (typeof attributePlaces)[number];

/** Maximum number of attributes of one callback, monitor or command. The interface has no bound. */
const MOST = 32;

export const attributeSchema = record(
  'Attribute',
  'A value that is added to every notification. Interface 3.19.2 Attribute.',
  {
    type: required(1, enumeration('Place in the notification. Interface 3.19.2 Attribute.type.', attributePlaces)),
    key: required(2, text('Its name. Interface 3.19.2 Attribute.key.', { maxLength: 128 })),
    value: required(
      3,
      text('A literal, or a variable such as $vin. Interface 3.19.2 Attribute.value.', { maxLength: 2048 }),
    ),
  },
);
export type Attribute = Static<typeof attributeSchema>;

export const attributesSchema = list(
  'Go along with every notification. Interface 3.19.2 AttributeSet.',
  attributeSchema,
  { maxItems: MOST },
);

/** Variables by the name after `$`. The spellings of the two lines differ only in case, which is ignored. */
export const variables = {
  vin: 'Vin',
  vid: 'Vid',
  fleetid: 'FleetID',
  monitorid: 'MonitorID',
  monitorlabel: 'MonitorLabel',
  callbackid: 'CallbackID',
  callbacklabel: 'CallbackLabel',
  remotetype: 'RemoteType',
  remotestatus: 'RemoteStatus',
  remotelabel: 'RemoteLabel',
} as const;
export type Variable = keyof typeof variables;

const car = ['vin', 'vid', 'fleetid'] as const satisfies Variable[];
const callback = ['callbackid', 'callbacklabel'] as const satisfies Variable[];
const monitor = ['monitorid', 'monitorlabel'] as const satisfies Variable[];
const remote = ['remotetype', 'remotestatus', 'remotelabel'] as const satisfies Variable[];

/** Owner of the attributes, which determines the variables that have a value. */
export type AttributeOwner = 'fleetMonitor' | 'fleetCallback' | 'userCallback' | 'userMonitor' | 'userRemote';

/** Variables with a value for each owner: the published vocabulary, and additions. */
const known: Readonly<Record<AttributeOwner, readonly Variable[]>> = {
  fleetMonitor: [...car, ...monitor],
  fleetCallback: [...car, ...callback, ...remote],
  userCallback: [...car, ...callback],
  userMonitor: [...car, ...callback, ...monitor],
  userRemote: [...car, ...callback, ...remote],
};

/** Returns the variable named by a value. Undefined for a literal, also if it starts with `$` but is unknown. */
export function variableOf(value: string): Variable | undefined {
  if (!value.startsWith('$')) return undefined;
  const name = value.slice(1).toLowerCase();
  return Object.hasOwn(variables, name) ? (name as Variable) : undefined;
}

/** RFC 9110 §5.6.2 token. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

/** Fields that determine how the request is parsed, or that the agent itself sets. */
const reserved =
  /^(host|connection|content-(length|type|encoding)|transfer-encoding|te|trailer|upgrade|keep-alive|expect|vigie-.*|proxy-.*|sec-.*)$/i;

/**
 * Reads a list of attributes. `places` contains those that the channel has; the first is the default if `type` is
 * omitted and `optional` allows that.
 * @throws VigieError `input.malformed`
 */
export function readAttributes(
  member: Member,
  owner: AttributeOwner,
  places: readonly AttributePlace[] = attributePlaces,
  optional = false,
): Attribute[] {
  if (member.absent) return [];
  return member.list(0, MOST).map((entry) => {
    const given = entry.member('type');
    const type = given.absent && optional ? (places[0] ?? 'Body') : given.oneOf(places);
    const key = entry.member('key');
    const value = entry.member('value');
    checkKey(type, key);
    checkValue(type, value, owner);
    return { type, key: key.text(128), value: value.text(2048) };
  });
}

function checkKey(type: AttributePlace, member: Member): void {
  const key = member.text(128);
  if (key === '') throw malformed(member.where, 'must not be empty');
  if (type !== 'Header') return;
  if (!token.test(key)) {
    throw malformed(member.where, `must be the name of a header (RFC 9110), is ${JSON.stringify(key)}`);
  }
  if (reserved.test(key))
    throw malformed(member.where, `${key} is a header that the request itself needs: choose another`);
}

function checkValue(type: AttributePlace, member: Member, owner: AttributeOwner): void {
  const value = member.text(2048);
  const variable = variableOf(value);
  if (variable !== undefined && !known[owner].includes(variable)) {
    const names = known[owner].map((name) => `$${variables[name]}`).join(', ');
    throw malformed(member.where, `${value} has no value here: the variables are ${names}`);
  }
  // RFC 9110 §5.5: a line break would start another header.
  if (type === 'Header' && !/^[\x20-\x7e]*$/.test(value)) {
    throw malformed(member.where, 'of a header must be of visible ASCII characters and blanks');
  }
}
