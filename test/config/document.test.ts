/** Syntax errors must be explained to people who write the file. */
import { expect, test } from 'vitest';
import { readYaml } from '../../config/document.ts';

test.each([
  ['a line without a colon', 'vin: VF3\nmqtt\n  url: x\n', '2: this line has no name with a colon and a space'],
  ['a colon without a space', 'vin:VF3\nmqtt:\n  url: x\n', '1: this line has no name with a colon and a space'],
  ['a member indented too far', 'vin: VF3\n  mqtt:\n    url: x\n', '1: this value contains a colon and a space, or'],
  ['a value with a colon', 'vin: VF3\nname: a: b\n', '2: this value contains a colon and a space, or'],
  ['tabs', 'mqtt:\n\turl: x\n\tcleanStart: 1\n', '2: a tab stands', '3: a tab stands'],
  ['a list in a map', '- a\nvin: VF3\nmqtt: x\n', '2: Unexpected scalar at node end'],
])('%s is reported alone, without consequential errors', (_, text, ...expected) => {
  const { contents, diagnostics } = readYaml('vigie.yaml', text);
  expect(contents).toBeUndefined();
  expect(diagnostics.map(({ line, message }) => `${line}: ${message}`)).toEqual(
    expected.map((begin) => expect.stringMatching(new RegExp(`^${begin}`))),
  );
});
