import { expect, test } from 'vitest';
import { blocksOf, printedAs, sessionsOf } from './page.ts';

const page = `# A page
\`\`\`sh
# what follows
cat > a <<'END'
\`b\` # no comment
END
vigie check -p . \\
  --format text   # Ctrl-C ends it

vigie watch
\`\`\`

\`\`\`text
one … two
\`\`\`

Words.

\`\`\`sh
true
\`\`\`
Words between.
\`\`\`text
no output of it
\`\`\`

\`\`\`sh
#!/bin/sh
false
\`\`\`
`;

test('a block is split into commands like in the shell', () => {
  const [first, second, ...more] = sessionsOf(page);
  expect(first?.commands).toEqual([
    { line: 4, text: "cat > a <<'END'\n`b` # no comment\nEND", comment: '' },
    { line: 7, text: 'vigie check -p . \\\n  --format text   # Ctrl-C ends it', comment: 'Ctrl-C ends it' },
    { line: 10, text: 'vigie watch', comment: '' },
  ]);
  expect(first?.printed).toBe('one … two');
  expect(second?.commands.map(({ line, text }) => [line, text])).toEqual([[20, 'true']]);
  expect(second?.printed).toBeUndefined();
  expect(more).toEqual([]);
});

test('an unterminated block is refused', () => {
  expect(() => blocksOf('```sh\ntrue\n')).toThrow('line 1: the block is not closed');
  expect(() => sessionsOf("```sh\ncat <<'END'\n```\n")).toThrow('line 2: a here-document does not end');
});

test('output matches the page except where the page has an ellipsis', () => {
  expect(printedAs('one … two', 'one or\nmore two\n')).toBe(true);
  expect(printedAs('one … two', 'one more three')).toBe(false);
  expect(printedAs('a.b (1)', 'a.b (1)')).toBe(true);
  expect(printedAs('a.b', 'axb')).toBe(false);
  expect(printedAs('one', 'one two')).toBe(false);
});
