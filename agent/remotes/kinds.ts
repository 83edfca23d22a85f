import { charging } from './charging.ts';
import { doors } from './doors.ts';
import { horn } from './horn.ts';
import { immobilization } from './immobilization.ts';
import type { RemoteKind } from './kind.ts';
import { lights } from './lights.ts';
import { navigation } from './navigation.ts';
import { preconditioning } from './preconditioning.ts';
import { stolen } from './stolen.ts';
import { wakeUp } from './wake-up.ts';

/** Every kind of the interface. */
export const remoteKinds: readonly RemoteKind[] = [
  preconditioning,
  charging,
  horn,
  doors,
  lights,
  immobilization,
  stolen,
  wakeUp,
  navigation,
];
