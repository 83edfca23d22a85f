import type { Side } from '../operation.ts';

/** Kinds of drive. Interface 3.19.2 Vehicle.motorization. */
export type Motorization = 'Electric' | 'Hybrid' | 'Thermic' | 'Hydrogen';

/** Reader of a resource: everything that its JSON depends on in addition to the record. */
export interface Viewer {
  readonly side: Side;
  readonly vehicle: { readonly vin: string; readonly motorization: Motorization };
  /** The viewer may see where the car is and was. */
  readonly positions: boolean;
  /** The deprecated aliases are written, too. */
  readonly aliases: boolean;
}
