import { VigieError } from './errors.ts';

/**
 * Loads code that needs a package that is not installed with Vigie.
 * @throws VigieError `package.missing` with the name of the package to install, or the error of `load`
 */
export async function withPackage<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message: string };
    const [, name] = /Cannot find (?:package|module) '([^'./][^']*)'/.exec(message) ?? [];
    if ((code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') || name === undefined) throw cause;
    const [scope = name, own] = name.split('/');
    const missing = scope.startsWith('@') && own !== undefined ? `${scope}/${own}` : scope;
    throw new VigieError('package.missing', `the package ${missing} is not installed: npm install ${missing}`, {
      cause,
    });
  }
}
