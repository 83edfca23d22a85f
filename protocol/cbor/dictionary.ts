/**
 * Preset dictionary for packed messages in protocol version 1: concatenated shapes (shape.ts) of Status messages, from
 * whole messages of cars with and without traction battery, and from changes of about ten values. Shapes
 * contain no values, so they fit every car. If one byte changed, no receiver could read older packed messages. The data
 * file lists the shapes in base64, for receivers in other languages; a bundle contains it.
 */
import shapes from '../generated/dictionary.json' with { type: 'json' };

export const dictionary: Uint8Array = Uint8Array.from(shapes.map(atob).join(''), (character) =>
  character.charCodeAt(0),
);
