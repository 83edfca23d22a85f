import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Preconditioning of the cabin: now, or by programs that the agent keeps and carries out. */
export const preconditioning: RemoteKind = {
  type: 'ThermalPreconditioning',
  plan: (bytes, { programs: kept }) => {
    const { immediate, programs = [] } = readBody('ThermalPreconditioning', bytes).airConditioning;
    // Absent is false by the interface: with programs it says nothing about now.
    const stops = immediate === false && programs.length === 0;
    const action = immediate === true ? ['preconditioning.start'] : stops ? ['preconditioning.stop'] : [];
    return { actions: action, effects: programs.length === 0 ? [] : [kept.preconditioning(programs)] };
  },
};
