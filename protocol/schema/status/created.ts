import { instant, required } from '../fields.ts';

/** Time stamp of each object of Status (interface 3.19.2, CreatedAtField). Key 0 everywhere. */
export const createdAt = required(
  0,
  instant('When a member of this object last changed in the car. Interface 3.19.2 CreatedAtField.'),
);
