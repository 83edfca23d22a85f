/** The imports of a source file, as its syntax tree has them: values, types, exports from a file, and imports at run time. */
import { parseSync, Visitor } from 'rolldown/utils';

/** Specifiers in a file. `undefined`: an import at run time with a computed path. */
export function importsOf(path: string, text: string): readonly (string | undefined)[] {
  const { module, program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const found = new Set<string | undefined>(module.staticImports.map(({ moduleRequest }) => moduleRequest.value));
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest } of entries) if (moduleRequest) found.add(moduleRequest.value);
  }
  // Reading the whole tree costs twenty times as much: only where an import stands within an expression or a type.
  if (text.includes('import(')) {
    const add = ({ source }: { readonly source: unknown }): void => {
      const { value } = source as { readonly value?: unknown };
      found.add(typeof value === 'string' ? value : undefined);
    };
    new Visitor({ ImportExpression: add, TSImportType: add }).visit(program);
  }
  return [...found];
}
