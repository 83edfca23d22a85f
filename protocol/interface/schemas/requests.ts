import { remoteKinds } from '../../remote/table.ts';
import { mapMembers, withoutWords } from '../../schema/walk.ts';
import type { RequestName } from '../operation.ts';
import { callbackSubscribe } from './callback.ts';
import type { JsonSchema } from './json.ts';
import { monitorParameter, statusSetter } from './monitor.ts';
import { remote } from './remote.ts';

const makers: Readonly<Record<RequestName, () => JsonSchema>> = {
  fleetMonitor: () => monitorParameter('fleet'),
  fleetCallback: () => callbackSubscribe('fleet'),
  fleetRemote: () => remote('fleet'),
  userMonitor: () => monitorParameter('user'),
  userCallback: () => callbackSubscribe('user'),
  userRemote: () => remote('user'),
  statusSetter: () => statusSetter,
};

const made = new Map<RequestName, JsonSchema>();

/** Documented body of a request, by the name of its validator. Created on first use. */
export function requestBody(name: RequestName): JsonSchema {
  const schema = made.get(name) ?? makers[name]();
  made.set(name, schema);
  return schema;
}

/**
 * Bodies for the generated validators. Monitors and callbacks have separate readers (schema/monitor/compile.ts,
 * schema/callback/read.ts), which check more rules and accept undocumented spellings: here only the presence and types
 * of their fields are checked. Commands are references to {@link checkedCommands}, which both sides share.
 */
export function checkedBody(name: RequestName): object {
  const schema = requestBody(name);
  if (!name.endsWith('Remote')) return name === 'statusSetter' ? bare(schema) : outline(schema);
  const { properties = {} } = outline(schema);
  const members = mapMembers(properties, (known, member) => {
    const title = schema.properties?.[member]?.title;
    return title !== undefined && commandTitles().has(title) ? { $ref: title } : known;
  });
  return { type: 'object', properties: members };
}

/** Bodies of commands by title. */
export function checkedCommands(): Readonly<Record<string, object>> {
  return Object.fromEntries(commands().map((schema) => [schema.title, bare(schema)]));
}

function commands(): readonly JsonSchema[] {
  const members = remoteKinds.map(({ member }) => member);
  return Object.entries(remote('fleet').properties ?? {}).flatMap(([name, schema]) =>
    members.includes(name) ? [schema] : [],
  );
}

function commandTitles(): ReadonlySet<string | undefined> {
  return new Set(commands().map(({ title }) => title));
}

function outline({ required = [], properties = {} }: JsonSchema): JsonSchema {
  return { type: 'object', required, properties: mapMembers(properties, ({ type = '' }) => ({ type })) };
}

const words: ReadonlySet<string> = new Set(['title', 'description', 'default', 'deprecated']);

/** Removes everything that a validator does not need. */
const bare = (schema: JsonSchema): JsonSchema => withoutWords(schema, words);
