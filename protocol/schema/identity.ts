/** Identity of every record: its id and the times of its creation and last change. */
import { instant, optional, required, text } from './fields.ts';

/** `[0-9a-fA-F_-]`, as the interface requires for ids in paths. */
export const recordId = text('Names the record, for ever.', { maxLength: 64, pattern: '^[0-9a-fA-F_-]+$' });

export const identity = {
  createdAt: required(0, instant('When the record was made. Interface 3.19.2 CreatedAtField.')),
  id: required(1, recordId),
  updatedAt: optional(2, instant('When it last changed. Interface 3.19.2 UpdatedAtField.')),
};

/** Id of the trip during which it happened. An addition: the interface has a link instead. */
export const tripId = text('Id of the trip during which it happened; an addition to the interface.', {
  maxLength: 64,
  pattern: '^[0-9a-fA-F_-]+$',
});
