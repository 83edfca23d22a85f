/**
 * Part of `npm run check`: comments must say who does what, as messages must (lint/plain-messages.grit). Prints
 * violations.
 */
import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const sources = '{protocol,agent,adapters,config,assembly,commands,hub,page,scripts}/**/*.{ts,tsx}';
const unclear =
  /\b([Nn]one (is|are)|[Nn]obody|(is|are|was|were|been|be) told|[Ww]hoever)\b|(?<=(\/\/|\/\*\*|^\s*\*) )(What|Of|Whose) /;
const comment = /^\s*(\/\/|\/?\*).*|(\/\*\*|\/\/ ).*/;

/** Returns the lines of comments that contain a phrase which hides who does something. */
export function unclearComments(text: string): readonly { readonly line: number; readonly phrase: string }[] {
  return text.split('\n').flatMap((content, index) => {
    const phrase = unclear.exec(comment.exec(content)?.[0] ?? '')?.[0];
    return phrase === undefined ? [] : [{ line: index + 1, phrase }];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const path of globSync(sources, { exclude: ['**/generated/**', '**/node_modules/**'] }).sort()) {
    for (const { line, phrase } of unclearComments(readFileSync(path, 'utf8'))) {
      process.stderr.write(`${path}:${line}: «${phrase}» in a comment: say who does what (subject, verb, object)\n`);
      process.exitCode = 1;
    }
  }
}
