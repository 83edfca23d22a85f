/** Status.energy for old clients of the user side: a list with one entry per energy. */
import { defined } from '../../../protocol/defined.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';

/** Fields of an entry of `energies` that the list repeats. */
export interface WrittenEnergy {
  readonly type: string;
  readonly level?: number;
  readonly autonomy?: number;
  readonly updatedAt: string;
  readonly extension?: { readonly electric?: { readonly charging?: Members; readonly battery?: Members } };
}

type EnergyEntry = Pick<WrittenEnergy, 'type' | 'level' | 'autonomy' | 'updatedAt'> & {
  readonly charging?: Members;
  readonly battery?: Members;
};

export function energyList(energies: readonly WrittenEnergy[]): EnergyEntry[] {
  return energies.map(({ type, level, autonomy, updatedAt, extension: { electric = {} } = {} }) => ({
    type,
    ...defined({ level, autonomy }),
    updatedAt,
    ...defined({ charging: electric.charging, battery: electric.battery }),
  }));
}
