import type { ErrorCode } from '../errors.ts';
import type { JsonSchema } from '../interface/schemas/json.ts';
import type { Condition } from '../profile.ts';
import type { Static, TSchema } from '../schema/fields.ts';

/** Conditions that the car itself must show now before an action may touch it. */
export interface InterlockRule {
  /** One of them must hold. */
  readonly any: readonly Condition[];
  /** None of them may be shown, whatever else is. */
  readonly none?: readonly Condition[];
  readonly refusal: ErrorCode;
  /** For people, a sentence: what must be so. */
  readonly demand: string;
  /** Holds also for a car with a profile that feeds none of the paths: it has no such part. */
  readonly onlyIfFed?: true;
  /** No profile takes its place. */
  readonly fixed?: true;
}

/** A value of Status, or of a channel, that explains a failure. */
export interface FailureSign {
  readonly path: string;
  /** Absent, of a channel: nothing fresh is known of it, although the profile feeds it. */
  readonly value?: string | boolean;
  readonly code: ErrorCode;
  /** For people. */
  readonly detail: string;
}

/** An action of the profile, such as `doors.lock`. */
export interface RemoteActionRules {
  /** Unknown and stale values refuse: unknown is not safe. */
  readonly interlocks?: readonly InterlockRule[];
  /** Changes of Status that end it before its time. */
  readonly ends?: readonly FailureSign[];
  /** Why the car has not obeyed in time; default: those of `ends` that are not an act of the driver. */
  readonly causes?: readonly FailureSign[];
  /** Why diagnostics cannot carry it out. */
  readonly framesOnly?: string;
}

/** Capability of a car for one kind. Interface 3.19.2 OnboardCapabilities. */
export interface RemoteCapability {
  /** The car can do it when its profile has one of these actions; none: it can when it takes commands. */
  readonly actions: readonly string[];
  readonly parameters?: {
    readonly schema: JsonSchema;
    /** @param can whether the car has one of these actions */
    of(can: (...actions: readonly string[]) => boolean): object;
  };
}

/** A request in the words of `vigie send`. */
export interface RemoteWords {
  readonly verb: string;
  /** As the help shows it. */
  readonly usage: string;
  /** Bodies by the one word after the verb. */
  readonly bodies: Readonly<Record<string, object>>;
  /** Body of the verb alone. */
  readonly alone?: object;
}

/** All that is known of one kind of remote command. */
export interface RemoteKind<T extends string = string, B extends TSchema = TSchema> {
  /** Interface 3.19.2 RemoteType. */
  readonly type: T;
  /** Its number on the wire; never used again. The agent's own kinds have 9 to 12 (schema/remote.ts). */
  readonly wire: number;
  readonly body: B;
  /** Why a body that follows its schema still asks for nothing that can be done. */
  fault?(body: Static<B>): string | undefined;
  /** Member of the body that the interface deprecates: accepted and without effect. */
  readonly deprecated?: string;
  /** Actions of the profile that are its own. */
  readonly actions: Readonly<Record<string, RemoteActionRules>>;
  /** The actions that a body asks for, one after the other; none where only the agent itself does something. */
  asks(body: Static<B>): readonly string[];
  /** Parameters of the actions. */
  parameters?(body: Static<B>): Readonly<Record<string, unknown>>;
  /** States before the command is sent to the car are not reported (interface: Navigation). */
  readonly quiet?: true;
  /** Carried out although the car counts as stolen. */
  readonly whileStolen?: true;
  /** Carried out although privacy hides the car. */
  readonly whilePrivate?: true;
  /** Carried out with a service battery that is low. */
  readonly withLowBattery?: true;
  /** Member of Remote over HTTP. Interface 3.19.2 Remote. */
  readonly member: string;
  /** The body over HTTP where it differs from that of a signed command. */
  http?(schema: JsonSchema): JsonSchema;
  /** Scope `remote:NAME:write` of the user side; absent: only fleets have it, at a hub with the right `remote:MEMBER:write`. Interface 4.17.2 `api_oauth`. */
  readonly scope?: { readonly name: string; readonly description: string };
  readonly capability?: RemoteCapability;
  /** A request that can be sent unchanged, for the OpenAPI document. */
  readonly example: { readonly summary: string; readonly body: object };
  readonly words: RemoteWords;
}

/** A row of the table of kinds; the types of its functions follow from `body`. */
export function remoteKind<const T extends string, B extends TSchema>(row: RemoteKind<T, B>): RemoteKind<T, B> {
  return row;
}
