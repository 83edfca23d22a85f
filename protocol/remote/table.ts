import type { Static } from '../schema/fields.ts';
import { charging } from './charging.ts';
import { doors } from './doors.ts';
import { horn } from './horn.ts';
import { immobilization } from './immobilization.ts';
import type { RemoteActionRules, RemoteKind } from './kind.ts';
import { lights } from './lights.ts';
import { navigation } from './navigation.ts';
import { preconditioning } from './preconditioning.ts';
import { stolen } from './stolen.ts';
import { wakeUp } from './wake-up.ts';

/** All kinds of remote commands: the single source for their properties. */
const rows = [preconditioning, charging, horn, doors, lights, immobilization, stolen, wakeUp, navigation] as const;

type Row = (typeof rows)[number];
export type RemoteType = Row['type'];
/** Body of a remote command. */
export type RemoteBody<T extends RemoteType> = Static<Extract<Row, { readonly type: T }>['body']>;

export const remoteKinds: readonly RemoteKind<RemoteType>[] = rows;

/** Interface 3.19.2 RemoteType. */
export const remoteTypes: readonly RemoteType[] = rows.map(({ type }) => type);

/** Schemas of the bodies, by type. */
export const remoteBodies = Object.fromEntries(rows.map(({ type, body }) => [type, body])) as {
  readonly [T in RemoteType]: Extract<Row, { readonly type: T }>['body'];
};

const byType: ReadonlyMap<string, RemoteKind<RemoteType>> = new Map(remoteKinds.map((kind) => [kind.type, kind]));

/** Returns the kind of that name, if the table has it. */
export function findRemoteKind(type: string): RemoteKind<RemoteType> | undefined {
  return byType.get(type);
}

export function remoteKindOf(type: RemoteType): RemoteKind<RemoteType> {
  return byType.get(type) as RemoteKind<RemoteType>;
}

/** Profile actions that the kinds request, such as `doors.lock`. */
export const remoteActions: ReadonlyMap<string, RemoteActionRules> = new Map(
  remoteKinds.flatMap(({ actions }) => Object.entries(actions)),
);
