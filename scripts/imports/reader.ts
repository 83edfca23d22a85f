/** Reads the imports of a source file from its syntax tree: values, types, re-exports, and dynamic imports. */
import { parseSync, Visitor } from 'rolldown/utils';

/** Returns the specifiers in a file. `undefined` means a dynamic import with a computed path. */
export function importsOf(path: string, text: string): readonly (string | undefined)[] {
  const { module, program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const found = new Set<string | undefined>(module.staticImports.map(({ moduleRequest }) => moduleRequest.value));
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest } of entries) if (moduleRequest) found.add(moduleRequest.value);
  }
  // Visiting the whole tree takes twenty times as long: do it only if there is an import in an expression or a type.
  if (text.includes('import(')) {
    const add = ({ source }: { readonly source: unknown }): void => {
      const { value } = source as { readonly value?: unknown };
      found.add(typeof value === 'string' ? value : undefined);
    };
    new Visitor({ ImportExpression: add, TSImportType: add }).visit(program);
  }
  return [...found];
}
