import type { ErrorCode } from '../errors.ts';
import type { JsonSchema } from '../interface/schemas/json.ts';
import type { Condition } from '../profile.ts';
import type { Static, TSchema } from '../schema/fields.ts';

/** Conditions that the car must currently meet before an action is allowed. */
export interface InterlockRule {
  /** At least one of these must hold. */
  readonly any: readonly Condition[];
  /** No condition of this list may hold, even if one of `any` does. */
  readonly none?: readonly Condition[];
  readonly refusal: ErrorCode;
  /** The requirement, as a sentence for people. */
  readonly demand: string;
  /** True if the rule is met by a car whose profile feeds none of the paths, because it has no such part. */
  readonly onlyIfFed?: true;
  /** True if no profile can replace it. */
  readonly fixed?: true;
}

/** A value of Status, or of a channel, that explains a failure. */
export interface FailureSign {
  readonly path: string;
  /** If omitted, for a channel: the profile feeds it, but it has no fresh value. */
  readonly value?: string | boolean;
  readonly code: ErrorCode;
  /** Text for people. */
  readonly detail: string;
}

/** An action of the profile, such as `doors.lock`. */
export interface RemoteActionRules {
  /** Unknown and stale values refuse the action: unknown is not safe. */
  readonly interlocks?: readonly InterlockRule[];
  /** Changes of Status that end the action early. */
  readonly ends?: readonly FailureSign[];
  /** Reasons why the car has not obeyed in time. Default: those of `ends` that are not an act of the driver. */
  readonly causes?: readonly FailureSign[];
  /** Reason why diagnostics cannot execute the action. */
  readonly framesOnly?: string;
}

/** Capability of a car for one kind. Interface 3.19.2 OnboardCapabilities. */
export interface RemoteCapability {
  /** The car has the capability if its profile has one of these actions; if empty, if the car accepts commands. */
  readonly actions: readonly string[];
  readonly parameters?: {
    readonly schema: JsonSchema;
    /** @param can returns true if the car has one of these actions */
    of(can: (...actions: readonly string[]) => boolean): object;
  };
}

/** A request in the vocabulary of `vigie send`. */
export interface RemoteWords {
  readonly verb: string;
  /** As shown in the help. */
  readonly usage: string;
  /** Bodies by the single word after the verb. */
  readonly bodies: Readonly<Record<string, object>>;
  /** Body for the verb without a further word. */
  readonly alone?: object;
}

/** All facts about one kind of remote command. */
export interface RemoteKind<T extends string = string, B extends TSchema = TSchema> {
  /** Interface 3.19.2 RemoteType. */
  readonly type: T;
  /** Number on the wire, never reused. The agent's own kinds have 9 to 12 (schema/remote.ts). */
  readonly wire: number;
  readonly body: B;
  /** Returns the reason why a body that matches its schema requests nothing that can be done, or undefined. */
  fault?(body: Static<B>): string | undefined;
  /** Deprecated field of the body in the interface: accepted without effect. */
  readonly deprecated?: string;
  /** Profile actions that belong to this kind. */
  readonly actions: Readonly<Record<string, RemoteActionRules>>;
  /** Returns the actions that a body requests, in sequence; none if only the agent itself acts. */
  asks(body: Static<B>): readonly string[];
  /** Returns the parameters of the actions. */
  parameters?(body: Static<B>): Readonly<Record<string, unknown>>;
  /** True if states before the command is sent to the car are not reported (interface: Navigation). */
  readonly quiet?: true;
  /** True if it is executed even if the car counts as stolen. */
  readonly whileStolen?: true;
  /** True if it is executed even if privacy hides the car. */
  readonly whilePrivate?: true;
  /** True if it is executed even if the service battery is low. */
  readonly withLowBattery?: true;
  /** Field of Remote over HTTP. Interface 3.19.2 Remote. */
  readonly member: string;
  /** Returns the body's schema over HTTP, if it differs from that of a signed command. */
  http?(schema: JsonSchema): JsonSchema;
  /**
   * Scope `remote:NAME:write` of the user side. If omitted, only fleets have this kind, at a hub with the right
   * `remote:MEMBER:write`. Interface 4.17.2 `api_oauth`.
   */
  readonly scope?: { readonly name: string; readonly description: string };
  readonly capability?: RemoteCapability;
  /** A request that can be sent unchanged, for the OpenAPI document. */
  readonly example: { readonly summary: string; readonly body: object };
  readonly words: RemoteWords;
}

/** Row of the table of kinds; the types of its functions are inferred from `body`. */
export function remoteKind<const T extends string, B extends TSchema>(row: RemoteKind<T, B>): RemoteKind<T, B> {
  return row;
}
