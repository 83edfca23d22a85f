import type { RemoteType } from '../../protocol/schema/remote.ts';

/** One kind of remote command: what its body asks for. */
export interface RemoteKind {
  readonly type: RemoteType;
  /**
   * The profile action that carries the command out, e.g. `doors.lock`.
   * @throws VigieError `command.malformed` when the body does not follow the kind's schema
   */
  action(body: Uint8Array): string;
}
