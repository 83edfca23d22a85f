import type { Side } from '../operation.ts';

/** Types of drive. Interface 3.19.2 Vehicle.motorization. */
export type Motorization = 'Electric' | 'Hybrid' | 'Thermic' | 'Hydrogen';

/** The reader of a resource: everything that the JSON depends on, in addition to the record. */
export interface Viewer {
  readonly side: Side;
  readonly vehicle: { readonly vin: string; readonly motorization: Motorization };
  /** True if the viewer may see present and past positions of the car. */
  readonly positions: boolean;
  /** True if deprecated aliases are included. */
  readonly aliases: boolean;
}
