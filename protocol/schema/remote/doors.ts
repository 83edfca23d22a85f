import { enumeration, flag, optional, record, required, type Static } from '../fields.ts';

/** Body of a command to the doors. */
export const doorsSchema = record(
  'RemoteDoorsState',
  {
    state: required(
      1,
      enumeration(['Unlocked', 'Locked'], {
        description: 'What the central locking shall be. Interface 3.19.2 RemoteDoorsState.state.',
      }),
    ),
    forced: optional(
      2,
      flag({ description: 'Deprecated, accepted and without effect. Interface 3.19.2 RemoteDoorsState.forced.' }),
    ),
  },
  { description: 'Locks or unlocks. Interface 3.19.2 RemoteDoorsState.' },
);
export type RemoteDoors = Static<typeof doorsSchema>;
