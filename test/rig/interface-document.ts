/** Checks answers against the committed OpenAPI document, independent of the server. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Operation } from '../../protocol/interface/operation.ts';
import { bases } from '../../protocol/interface/operation.ts';
import type { Answered } from './interface.ts';

export interface DocumentParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: DocumentSchema;
}

/** Parts of a schema that request generators use. */
export interface DocumentSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, DocumentSchema>>;
  readonly required?: readonly string[];
  readonly items?: DocumentSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly oneOf?: readonly DocumentSchema[];
  readonly anyOf?: readonly DocumentSchema[];
  readonly allOf?: readonly DocumentSchema[];
}

interface DocumentResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: DocumentSchema }>> };
  readonly responses: Readonly<Record<string, DocumentResponse>>;
}

const file = new URL('../../protocol/generated/openapi.json', import.meta.url);

export class InterfaceDocument {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isMoment, uri: true } });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #document = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  };

  constructor() {
    this.#ajv.addSchema(this.#document, 'document');
  }

  /** Operations of the interface with documented paths and upper-case methods. */
  *operations(): Generator<{ path: string; method: string; operation: DocumentOperation }> {
    for (const [path, methods] of Object.entries(this.#document.paths)) {
      if (!path.startsWith('/connectedcar/')) continue;
      for (const [method, operation] of Object.entries(methods)) {
        yield { path, method: method.toUpperCase(), operation };
      }
    }
  }

  /** Target of a reference within the document. */
  resolve<T>(reference: string): T {
    let found: unknown = this.#document;
    for (const step of reference.replace('#/', '').split('/')) {
      found = (found as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return found as T;
  }

  /** Faults of an answer. Empty if it is as documented. */
  faultsOf(operation: Operation, answer: Answered): string[] {
    return this.faults(`${bases[operation.side]}${operation.path}`, operation.method, answer);
  }

  /** Schema of an answer's body. Undefined if it has none. */
  schemaOf({ side, path, method }: Operation, status: number): DocumentSchema | undefined {
    const at = `#/paths/${`${bases[side]}${path}`.replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}`;
    const written = this.resolve<DocumentResponse>(at);
    const { content = {} } = written.$ref === undefined ? written : this.resolve<DocumentResponse>(written.$ref);
    return (Object.values(content)[0] as { schema: DocumentSchema } | undefined)?.schema;
  }

  /** Like {@link faultsOf}, for the documented path. */
  faults(path: string, method: string, { status, headers, text, json }: Answered): string[] {
    const key = `/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`;
    const written = this.resolve<DocumentOperation | undefined>(`#${key}`)?.responses[status];
    if (written === undefined) return [`${method} ${path} has no answer ${status}`];
    const at = written.$ref ?? `#${key}/responses/${status}`;
    const response = this.resolve<DocumentResponse>(at);
    const missing = Object.keys(response.headers ?? {})
      .filter((name) => headers[name.toLowerCase()] === undefined)
      .map((name) => `${method} ${path} ${status}: header ${name} is missing`);
    if (response.content === undefined) {
      return text === '' ? missing : [...missing, `${method} ${path} ${status} has a body`];
    }
    const media = String(headers['content-type']).split(';', 1)[0] as string;
    if (!(media in response.content)) return [...missing, `${method} ${path} ${status}: ${media} is not documented`];
    const validate = this.#validator(`document${at}/content/${media.replaceAll('/', '~1')}/schema`);
    if (validate(json)) return missing;
    const wrong = (validate.errors ?? []).map(
      ({ instancePath, message }) => `${method} ${path} ${status}${instancePath.replace(/\/\d+/g, '/*')} ${message}`,
    );
    return [...missing, ...new Set(wrong)];
  }

  #validator(at: string): ValidateFunction {
    const known = this.#validators.get(at) ?? this.#ajv.compile({ $ref: at });
    this.#validators.set(at, known);
    return known;
  }
}

function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
}
